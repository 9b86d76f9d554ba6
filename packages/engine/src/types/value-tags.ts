/**
 * The first byte of every value in the general encoding (docs/formats/type-encoding.md): what kind of value follows.
 *
 * Used by the codec of undescribed values and by undescribed keys, whose strings and numbers the row store recognises
 * by these bytes. A number is never given a second meaning.
 */
export const TAG_UNDEFINED = 0;
export const TAG_NULL = 1;
export const TAG_FALSE = 2;
export const TAG_TRUE = 3;
export const TAG_NUMBER = 4;
export const TAG_STRING = 5;
export const TAG_BIGINT = 6;
export const TAG_DATE = 7;
export const TAG_HOLE = 8;
export const TAG_ARRAY = 16;
export const TAG_OBJECT = 17;
/** An object without prototype, such as Object.groupBy returns. */
export const TAG_BARE_OBJECT = 18;
export const TAG_MAP = 19;
export const TAG_SET = 20;
export const TAG_BINARY = 21;

/** Tag and length, before the contents of everything that has parts (tags from TAG_ARRAY on). */
export const HEAD_BYTES = 5;

/** First byte of an undescribed key that is a number; a float64 follows. */
export const KEY_TAG_NUMBER = TAG_NUMBER;
/** First byte of an undescribed key that is a string; the string encoding follows. */
export const KEY_TAG_STRING = TAG_STRING;
