/**
 * The shape that a translation of an English catalogue has: the same keys, but
 * for `_one`, which Chinese has no use for. A missing key does not compile.
 */
export type Translation<English> = {
  readonly [Key in keyof English as Key extends `${string}_one` ? never : Key]: English[Key] extends string
    ? string
    : Translation<English[Key]>;
};
