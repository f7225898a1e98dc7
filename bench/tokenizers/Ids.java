import ai.djl.modality.nlp.DefaultVocabulary;
import ai.djl.modality.nlp.bert.BertFullTokenizer;
import com.google.gson.Gson;
import com.google.gson.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import opennlp.tools.tokenize.WordpieceTokenizer;

/** WordPiece of DJL's api and of OpenNLP. Usage: Ids (djl | opennlp) TOKENIZER TEXTS */
final class Ids {
  public static void main(String[] arguments) throws Exception {
    var tokenizer = new Gson().fromJson(Files.readString(Path.of(arguments[1])), JsonObject.class);
    var texts = new Gson().fromJson(Files.readString(Path.of(arguments[2])), String[].class);
    var vocabulary = tokenizer.getAsJsonObject("model").getAsJsonObject("vocab");
    Function<String, List<String>> tokens;
    if (arguments[0].equals("djl")) {
      var words =
          DefaultVocabulary.builder()
              .add(new ArrayList<>(vocabulary.keySet()))
              .optUnknownToken("[UNK]")
              .build();
      var made = new BertFullTokenizer(words, true);
      tokens =
          text -> {
            var found = new ArrayList<>(made.tokenize(text));
            found.add(0, "[CLS]");
            found.add("[SEP]");
            return found;
          };
    } else {
      var made = new WordpieceTokenizer(vocabulary.keySet());
      tokens = text -> Arrays.asList(made.tokenize(text.toLowerCase(Locale.ROOT)));
    }
    var ids = new ArrayList<List<Integer>>();
    for (var text : texts) {
      ids.add(tokens.apply(text).stream().map(one -> vocabulary.get(one).getAsInt()).toList());
    }
    System.out.println(new Gson().toJson(ids));
  }
}
