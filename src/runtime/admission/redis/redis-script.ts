import { createHash } from 'node:crypto';

/** A Lua script and its SHA-1, by which the server knows it. */
export interface RedisScript {
  readonly text: string;
  readonly hash: string;
}

/** The commands that run scripts. */
export interface RedisScripts {
  evalsha(hash: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
}

export const createScript = (text: string): RedisScript => ({
  text,
  hash: createHash('sha1').update(text).digest('hex'),
});

/** Runs a script with its keys and arguments. */
export async function runScript(
  redis: RedisScripts,
  { text, hash }: RedisScript,
  keys: readonly string[],
  values: readonly string[],
): Promise<unknown> {
  try {
    return await redis.evalsha(hash, keys.length, ...keys, ...values);
  } catch (error) {
    // The server does not have the script yet. `eval` sends its text.
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return redis.eval(text, keys.length, ...keys, ...values);
  }
}
