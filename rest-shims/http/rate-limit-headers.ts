/** The names by which clients of the reference read what an upstream leaves them, by its own names for it. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ...['limit', 'remaining', 'reset'].flatMap((what) =>
    ['requests', 'tokens'].map((of): [string, string] => {
      const name = `x-ratelimit-${what}-${of}`;
      return [name, name];
    }),
  ),
  // Anthropic tells when by the clock, and the others how long: that one is not the same.
  ...['limit', 'remaining'].flatMap((what) =>
    ['requests', 'tokens'].map((of): [string, string] => [
      `anthropic-ratelimit-${of}-${what}`,
      `x-ratelimit-${what}-${of}`,
    ]),
  ),
]);

/** The name under which a limit of an upstream is told; undefined for what is none. */
export const rateLimitName = (name: string): string | undefined => NAMES.get(name);
