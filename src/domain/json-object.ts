/** An object of a JSON or YAML document. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value when it is an object, else an empty one. */
export const jsonObjectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
