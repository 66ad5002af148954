import { describe, expect, it } from 'vitest';
import { factsOf } from '../../../src/runtime/telemetry/log.ts';

describe('a failure in the log', () => {
  it('has its description and not its data', () => {
    const error = Object.assign(new Error('Parse Error', { cause: new TypeError('inner') }), {
      code: 'HPE_INVALID_CHUNK_SIZE',
      rawPacket: Buffer.from('Authorization: Bearer sk-secret'),
      query: "select 'sk-secret'",
    });
    expect(factsOf(error)).toEqual({
      type: 'Error',
      message: 'Parse Error',
      stack: error.stack,
      code: 'HPE_INVALID_CHUNK_SIZE',
      cause: { type: 'TypeError', message: 'inner', stack: expect.any(String) },
    });
  });

  it('has at most five errors where a cause is circular', () => {
    const error = new Error('circular');
    error.cause = error;
    expect(JSON.stringify(factsOf(error)).match(/"type":"Error"/g)).toHaveLength(5);
  });

  it('does not contain a thrown value that is not an Error', () => {
    expect(factsOf('sk-secret')).toEqual({ type: 'string' });
  });
});
