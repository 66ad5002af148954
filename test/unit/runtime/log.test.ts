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

  it('is finite where a failure is its own cause', () => {
    const error = new Error('round');
    error.cause = error;
    expect(JSON.stringify(factsOf(error)).match(/"type":"Error"/g)).toHaveLength(5);
  });

  it('does not contain a thrown value that is not an Error', () => {
    expect(factsOf('sk-secret')).toEqual({ type: 'string' });
  });
});
