/**
 * Types of answers by the name of their route row (`RouteFacts`), in the notation of `http/type-notation.ts`. A row
 * that answers with other media types than JSON has a type for each media type. The type of a key `NAME STATUS` is for
 * that status only.
 */
export type AnswerTypes = Readonly<Record<string, string | Readonly<Record<string, string>>>>;
