/**
 * Types of answers by row name, in the notation of `http/type-notation.ts`. A row with other media types than JSON has a
 * type for each. The key `NAME STATUS` is the type for that status only.
 */
export type AnswerTypes = Readonly<Record<string, string | Readonly<Record<string, string>>>>;
