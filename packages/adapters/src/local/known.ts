import { type Conventions, conventionsOf } from '../conventions.ts';

/** A file as it was published, down to its last byte. */
export interface PublishedFile {
  /** What it is called in the model's folder. */
  readonly name: string;
  /** Where it is, below the address that models are downloaded from. */
  readonly from: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A model that can be named instead of a folder. */
export interface KnownModel extends Conventions {
  readonly name: string;
  readonly dimensions: number;
  /** Tokens of a text that it reads. */
  readonly maxTokens: number;
  readonly model: PublishedFile;
  readonly tokenizer: PublishedFile;
}

/** Of about a hundred languages, and trained to find answers. */
const E5: KnownModel = {
  name: 'multilingual-e5-small',
  ...conventionsOf('multilingual-e5-small'),
  dimensions: 384,
  maxTokens: 512,
  model: {
    name: 'model.onnx',
    from: 'Xenova/multilingual-e5-small/resolve/761b726dd34fb83930e26aab4e9ac3899aa1fa78/onnx/model_quantized.onnx',
    bytes: 118_308_185,
    sha256: 'f80102d3f2a1229f387d3c81909990d8945513e347b0eab049f7de3c6f98c193',
  },
  tokenizer: {
    name: 'tokenizer.json',
    from: 'Xenova/multilingual-e5-small/resolve/761b726dd34fb83930e26aab4e9ac3899aa1fa78/tokenizer.json',
    bytes: 17_082_730,
    sha256: '0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39',
  },
};

/** Of about fifty languages, and trained to tell what means the same. */
const MINILM: KnownModel = {
  name: 'paraphrase-multilingual-MiniLM-L12-v2',
  ...conventionsOf('paraphrase-multilingual-MiniLM-L12-v2'),
  dimensions: 384,
  maxTokens: 128,
  model: {
    name: 'model.onnx',
    from: 'Xenova/paraphrase-multilingual-MiniLM-L12-v2/resolve/2c4055b12046f11709e9df2c122e59ffbdc2f900/onnx/model_quantized.onnx',
    bytes: 118_308_126,
    sha256: '66fc00f5f29afcaff34092e1bdd20008ca3918265a82fb9695a551e510cc4ebc',
  },
  tokenizer: {
    name: 'tokenizer.json',
    from: 'Xenova/paraphrase-multilingual-MiniLM-L12-v2/resolve/2c4055b12046f11709e9df2c122e59ffbdc2f900/tokenizer.json',
    bytes: 17_082_913,
    sha256: 'b60b6b43406a48bf3638526314f3d232d97058bc93472ff2de930d43686fa441',
  },
};

/** The models that can be named; `local` alone means the first. */
export const KNOWN_MODELS: readonly [KnownModel, ...KnownModel[]] = [E5, MINILM];
