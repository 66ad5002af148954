/** An expensive GraphQL request. */
export interface HostileDocument {
  readonly name: string;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly operationName?: string;
}

/** Concatenates `count` generated texts. */
export const many = (count: number, make: (index: number) => string, between = ' '): string =>
  Array.from({ length: count }, (_, index) => make(index)).join(between);

/** JSON body of the request. The value `DEEP` becomes an object of 100,000 levels. */
export function bodyOf({ query, variables, operationName }: HostileDocument): string {
  return JSON.stringify({ query, variables, operationName }).replace(
    '"DEEP"',
    '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000),
  );
}

/** Selection of the global id, the declared fields and the extra fields of a catalog entry. */
export const ENTRY = `id provider mode maxInputTokens maxOutputTokens maxTokens inputCostPerToken outputCostPerToken
  cacheReadInputTokenCost inputCostPerAudioToken outputCostPerReasoningToken deprecationDate supportsFunctionCalling
  supportsParallelFunctionCalling supportsVision supportsAudioInput supportsAudioOutput supportsPromptCaching
  supportsReasoning supportsResponseSchema supportsSystemMessages supportsWebSearch extraFields`;

/** Selection that calls a model that does not exist. */
export const chatOf = (rest: string): string => `chat(input: { model: "none", ${rest} }) { __typename }`;
