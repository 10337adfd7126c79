/** How one vector is made of those of a text's tokens: their mean, or the first one. */
export type Pooling = 'mean' | 'cls';

/** What the thread of a local model is started with. */
export interface LocalThreadInit {
  /** Paths of the ONNX file and of tokenizer.json. */
  readonly model: string;
  readonly tokenizer: string;
  readonly pooling: Pooling;
  /** Tokens of one text, those that begin and end it included; the rest is left out. */
  readonly maxTokens: number;
  readonly dimensions: number;
}

/** Vectors of unit length, one for each text, in their order. */
export interface LocalVectors {
  readonly vectors: readonly Float32Array[];
  readonly tokens: number;
}

/** What the thread answers. */
export interface LocalThreadMethods {
  embed(texts: readonly string[]): Promise<LocalVectors>;
}
