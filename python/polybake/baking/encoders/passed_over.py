"""Keys of config.json that change no vector, whatever the architecture.

Source: transformers ``PreTrainedConfig`` and the configurations of its architectures, of versions 4
and 5; the files of models on the Hugging Face hub.
"""

#: Other parts of polybake compute these: its heads, its tokenizer, and what opens a folder.
READ_ELSEWHERE = (
    *("architectures", "model_type", "tokenizer_class", "output_hidden_states"),
    *("max_position_embeddings", "pad_token_id", "tie_word_embeddings"),
    *("id2label", "problem_type", "pooler_hidden_act"),
    *("sentence_transformers", "sbert_ce_default_activation_function"),
)

#: Keys that are read only in training: dropout, and initial weights.
_TRAINING = (
    *("activation_dropout", "attention_dropout", "attention_probs_dropout_prob", "attn_pdrop"),
    *("classifier_dropout", "classifier_dropout_prob", "cls_dropout", "dropout", "dropout_rate"),
    *("embd_pdrop", "embedding_dropout", "hidden_dropout", "hidden_dropout_prob", "layerdrop"),
    *("mlp_dropout", "pooler_dropout", "qa_dropout", "resid_pdrop", "seq_classif_dropout"),
    *("summary_first_dropout", "summary_last_dropout"),
    *("initializer_cutoff_factor", "initializer_factor", "initializer_range", "seed"),
    *(
        "gradient_checkpointing",
        "gradient_checkpointing_kwargs",
        "label_smoothing",
        "tf_legacy_loss",
    ),
)

#: How a library runs a model, and what else it gives; kernels round in other ways at most.
_RUNNING = (
    *("_attn_implementation", "_attn_implementation_autoset", "_attn_implementation_internal"),
    *("_flash_attn_2_enabled", "attn_implementation", "cache_implementation", "use_cache"),
    *("chunk_size_feed_forward", "dtype", "torch_dtype", "torchscript", "use_bfloat16"),
    *("output_attentions", "output_past", "output_scores", "pretraining_tp", "return_dict"),
    *("use_flash_attention", "use_flash_attn", "use_memory_efficient_attention", "unpad_inputs"),
    *("use_xentropy", "reference_compile", "transformers.js_config"),
)

#: How a decoder writes text, which an encoder does not.
_GENERATION = (
    *("bad_words_ids", "begin_suppress_tokens", "decoder_start_token_id", "diversity_penalty"),
    *("do_sample", "early_stopping", "encoder_no_repeat_ngram_size", "forced_bos_token_id"),
    *("exponential_decay_length_penalty", "forced_eos_token_id", "length_penalty", "max_length"),
    *("max_new_tokens", "min_length", "no_repeat_ngram_size", "num_beam_groups", "num_beams"),
    *("num_return_sequences", "prefix", "remove_invalid_values", "repetition_penalty"),
    *("return_dict_in_generate", "suppress_tokens", "task_specific_params", "temperature", "top_k"),
    *("top_p", "typical_p"),
)

#: Names, numbers of tokens and labels, and records of how a model came about.
_RECORDS = (
    *("_commit_hash", "_name_or_path", "author", "base_model", "export_model_type", "language"),
    *("license", "name"),
    *("transformers_version", "unsloth_fixed", "unsloth_version", "version"),
    *("bos_token_id", "cls_token_id", "eos_token_id", "eos_token_ids", "mask_token_id"),
    *("sep_token_id", "unk_token_id", "vocab_size_or_config_json_file"),
    *("_num_labels", "finetuning_task", "label2id", "num_labels"),
    *("max_seq_length", "model_max_length"),
    *("matryoshka_dimensions", "matryoshka_dims", "prompt_names", "task_names"),
    *("custom_pipelines", "keys_to_ignore_at_inference"),
)

#: Keys of original checkpoints on heads and layers that no version of transformers reads.
_UNREAD = (
    *("cell", "directionality", "emb_size", "pre_trained", "structure", "training"),
    *("pooler_fc_size", "pooler_hidden_size", "pooler_num_attention_heads"),
    *("pooler_num_fc_layers", "pooler_size_per_head", "pooler_type"),
    *("summary_activation", "summary_proj_to_labels", "summary_type", "summary_use_proj"),
)

PASSED_OVER = frozenset((*READ_ELSEWHERE, *_TRAINING, *_RUNNING, *_GENERATION, *_RECORDS, *_UNREAD))
