import { describe, expect, it } from 'vitest';
import { chatCompletionsOut } from '../../../src/wire/chat-completions/native.ts';
import { errorOf } from '../../../src/wire/chat-completions/answer.ts';
import { StepsInspector } from '../../../src/wire/sse/steps-inspector.ts';

const OUT = chatCompletionsOut({ maxTokensMember: 'max_tokens' });

function anInspector(textLimit = 0): StepsInspector {
  return new StepsInspector(
    {
      reader: () => OUT.reader(),
      errorOf,
      rename: (data, value, model) =>
        typeof value['model'] === 'string' ? Buffer.from(JSON.stringify({ ...value, model })) : data,
    },
    {
      model: 'public',
      removeUsageChunk: false,
      textLimit,
      upstreamError: (error) => new Error(`refused: ${error.message}`),
      formatError: (fault) => new Error(`garbled: ${fault}`),
    },
  );
}

const event = (value: unknown): Buffer => Buffer.from(`event: message\ndata: ${JSON.stringify(value)}\n\n`);
const text = (content: string) => ({ id: 'a-1', model: 'up', choices: [{ index: 0, delta: { content } }] });

describe('a stream with its steps', () => {
  it('is inspected while it is forwarded, with the names of its events', () => {
    const inspector = anInspector(4);
    expect(inspector.inspect(Buffer.from(': ping\n\n'))?.toString()).toBe(': ping\n\n');
    expect(inspector.hasBegun).toBe(false);
    expect(inspector.inspect(event(text('Hello')))?.toString()).toBe(
      `event: message\ndata: ${JSON.stringify({ ...text('Hello'), model: 'public' })}\n\n`,
    );
    expect(inspector).toMatchObject({ hasBegun: true, complete: false });
    const lastEvent = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    expect(inspector.inspect(lastEvent)).toBe(lastEvent);
    expect(inspector.complete).toBe(true);
    const done = Buffer.from('data: [DONE]\n\n');
    expect(inspector.inspect(done)).toBe(done);
    expect(inspector.outcome()).toEqual({
      responseId: 'a-1',
      responseModel: 'up',
      finishReason: 'stop',
      usage: null,
      failure: null,
      text: 'Hell',
    });
  });

  it('fails at an error event, or at an event that is not JSON', () => {
    const inspector = anInspector();
    expect(inspector.inspect(Buffer.from('data: {\n\n'))).toEqual(
      new Error('garbled: an event of its stream is not a JSON object'),
    );
    expect(inspector.inspect(event({ error: { message: 'busy', code: 529 } }))).toEqual(new Error('refused: busy'));
    expect(inspector.outcome().failure).toEqual({ message: 'busy', code: '529' });
  });

  it('has typed steps that are separate from the steps for accounting', () => {
    const inspector = anInspector();
    inspector.inspect(event(text('Hello')));
    expect(inspector.deltas(Buffer.from(JSON.stringify(text('Hello'))), null)).toEqual([
      { kind: 'text', text: 'Hello' },
    ]);
  });
});
