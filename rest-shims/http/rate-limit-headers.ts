/** Rate limit headers of the reference, by the header of the upstream. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ...['limit', 'remaining', 'reset'].flatMap((what) =>
    ['requests', 'tokens'].map((of): [string, string] => {
      const name = `x-ratelimit-${what}-${of}`;
      return [name, name];
    }),
  ),
  // Anthropic's reset is a time, the others' a duration, so it is not mapped.
  ...['limit', 'remaining'].flatMap((what) =>
    ['requests', 'tokens'].map((of): [string, string] => [
      `anthropic-ratelimit-${of}-${what}`,
      `x-ratelimit-${what}-${of}`,
    ]),
  ),
]);

/** The header for a rate limit header of an upstream; undefined for other headers. */
export const rateLimitName = (name: string): string | undefined => NAMES.get(name);
