/**
 * The type of a translation of an English catalogue: the same keys except `_one`,
 * which Chinese does not use. A missing key does not compile.
 */
export type Translation<English> = {
  readonly [Key in keyof English as Key extends `${string}_one` ? never : Key]: English[Key] extends string
    ? string
    : Translation<English[Key]>;
};
