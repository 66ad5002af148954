/**
 * Types of answers by row, in the notation of `http/type-notation.ts`. A row whose answers have other media types than
 * JSON has one type for each. `NAME STATUS` is the answer of another status than the first success.
 */
export type AnswerTypes = Readonly<Record<string, string | Readonly<Record<string, string>>>>;
