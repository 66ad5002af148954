import { describe, expect, it } from 'vitest';
import { RESPONSES } from '../../../src/domain/inference/endpoint.ts';
import { RESPONSES_NATIVE } from '../../../src/wire/responses/native.ts';

const OTHERS = 'cntr_others';
/** Members that repeat values of the request, and results of searches. */
const ECHO = {
  metadata: { container_id: OTHERS },
  tools: [{ type: 'function', name: 'f', parameters: { container_id: OTHERS, properties: { container_id: OTHERS } } }],
};
const OUTPUT = [
  { type: 'file_search_call', results: [{ attributes: { container_id: OTHERS } }] },
  { type: 'function_call', arguments: '{}', container_id: OTHERS },
  { type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1' },
  { type: 'shell_call', id: 'sh_1', container_id: 'cntr_2', action: { container_id: OTHERS } },
  {
    type: 'message',
    role: 'assistant',
    content: [
      {
        type: 'output_text',
        text: 'x',
        annotations: [
          { type: 'container_file_citation', container_id: 'cntr_3', file_id: 'cfile_1' },
          { type: 'url_citation', container_id: OTHERS },
        ],
      },
    ],
  },
];
const RESPONSE = { id: 'resp_1', object: 'response', status: 'completed', model: 'm', ...ECHO, output: OUTPUT };

/** Containers that a streamed response with these events names. */
function ofEvents(...events: readonly object[]): readonly string[] {
  const named: string[] = [];
  const inspector = RESPONSES_NATIVE.inspector({
    model: 'm',
    removeUsageChunk: false,
    textLimit: 0,
    onContainers: (ids) => void named.push(...ids),
    upstreamError: ({ message }) => new Error(message),
    formatError: (fault) => new Error(fault),
  });
  for (const event of events) inspector.inspect(Buffer.from(`data: ${JSON.stringify(event)}\n\n`));
  return [...new Set(named)];
}

describe('containers that an answer names', () => {
  it('are those of its calls and citations, without values that the upstream repeats: complete', () => {
    const named: string[] = [];
    const context = { endpoint: RESPONSES, model: 'm', body: {}, textLimit: 0 };
    RESPONSES_NATIVE.whole(Buffer.from(JSON.stringify(RESPONSE)), {
      ...context,
      onContainers: (ids) => void named.push(...ids),
    });
    expect(named).toEqual(['cntr_1', 'cntr_2', 'cntr_3']);
  });

  it('are those of its calls and citations, without values that the upstream repeats: streamed', () => {
    expect(ofEvents({ type: 'response.created', response: { ...RESPONSE, output: [] } })).toEqual([]);
    expect(ofEvents({ type: 'response.completed', response: RESPONSE })).toEqual(['cntr_1', 'cntr_2', 'cntr_3']);
    const [, , call, , message] = OUTPUT;
    const [part] = message?.content ?? [];
    expect(ofEvents({ type: 'response.output_item.added', item: call })).toEqual(['cntr_1']);
    expect(ofEvents({ type: 'response.content_part.done', part })).toEqual(['cntr_3']);
    const [annotation, link] = part?.annotations ?? [];
    expect(ofEvents({ type: 'response.output_text.annotation.added', annotation })).toEqual(['cntr_3']);
    expect(ofEvents({ type: 'response.output_text.annotation.added', annotation: link })).toEqual([]);
  });
});
