/** Let a thread end only between calls of native code. */

// A thread that is ended inside onnxruntime-node ends the whole process by SIGABRT: its C++ finds no
// JavaScript to return to. So a process that ends first waits for such a call, and lets none begin.
const SHUT = 2 ** 30;

/** Counts the calls of native code in one thread, where another one can shut the gate to them. */
export class Gate {
  /** @param {Int32Array} [calls] one element, shared by both threads */
  constructor(calls = new Int32Array(new SharedArrayBuffer(4))) {
    this.calls = calls;
  }

  /**
   * Make a call, unless the gate is shut: then this never returns.
   *
   * @template T
   * @param {() => Promise<T>} call
   * @returns {Promise<T>}
   */
  async within(call) {
    try {
      if (Atomics.add(this.calls, 0, 1) < SHUT) return await call();
    } finally {
      Atomics.sub(this.calls, 0, 1);
      Atomics.notify(this.calls, 0);
    }
    return new Promise(() => {});
  }

  /** Block this thread until no call is left in the other one, and let none begin. */
  shut() {
    Atomics.or(this.calls, 0, SHUT);
    for (;;) {
      const calls = Atomics.load(this.calls, 0);
      if (calls === SHUT) return;
      Atomics.wait(this.calls, 0, calls);
    }
  }
}
