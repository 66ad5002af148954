import { describe, expect, it } from 'vitest';
import { estimateContentTokens, estimateTokens } from '../../../src/domain/inference/token-estimate.ts';

const userMessage = (content: unknown): object => ({ role: 'user', content });

describe('an estimate of tokens', () => {
  it('counts three and a half bytes of text as a token, and four tokens for a turn', () => {
    expect(estimateTokens({ messages: [userMessage('x'.repeat(35))] })).toBe(10 + 4);
    expect(estimateTokens({ messages: [userMessage('x'.repeat(35)), userMessage('x')] })).toBe(10 + 4 + 1 + 4);
    // Seven characters, twenty-one bytes.
    expect(estimateTokens({ messages: [userMessage('日本語日本語日')] })).toBe(6 + 4);
  });

  // Tool calls and tool results have four tokens more than their content. An unknown block counts as JSON.
  // An image counts 1,600 tokens and a document 3,000, whatever its size.
  it.each([
    ['text', [{ type: 'text', text: 'x'.repeat(7) }], 2],
    ['an image', [{ type: 'image', source: { type: 'base64', data: 'x'.repeat(100_000) } }], 1_600],
    ['a document', [{ type: 'document', source: { type: 'base64', data: 'x'.repeat(100_000) } }], 3_000],
    ['a text document', [{ type: 'document', source: { type: 'text', data: 'x'.repeat(35) } }], 10],
    [
      'a document of text blocks',
      [{ type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'x'.repeat(35) }] } }],
      10,
    ],
    ['a tool result', [{ type: 'tool_result', content: [{ type: 'text', text: 'x'.repeat(35) }] }], 10 + 4],
    ['a tool call', [{ type: 'tool_use', name: 'x'.repeat(7), input: { a: 1 } }], 2 + 2 + 4],
    ['thinking as nothing', [{ type: 'thinking', thinking: 'x'.repeat(700) }], 0],
    ['an unknown block', [{ type: 'x' }], 4],
    ['a number as nothing', 7, 0],
  ])('counts %s', (_what, content, expected) => {
    expect(estimateTokens({ messages: [userMessage(content)] })).toBe(4 + expected);
  });

  it('counts the system prompt and the tools', () => {
    const tool = { name: 'look', input_schema: { type: 'object' } };
    expect(estimateTokens({ system: 'x'.repeat(35), messages: [] })).toBe(10);
    expect(estimateTokens({ tools: [tool], messages: [] })).toBe(Math.ceil(JSON.stringify(tool).length / 3.5));
    expect(estimateTokens({})).toBe(0);
  });
});

describe("an estimate of tokens in Google's form", () => {
  const turn = (part: object) => ({ contents: [{ role: 'user', parts: [part] }] });
  it.each([
    ['text', { text: 'x'.repeat(35) }, 10],
    ['a thought as nothing', { text: 'x'.repeat(700), thought: true }, 0],
    ['an image', { inlineData: { mimeType: 'image/png', data: 'x'.repeat(100_000) } }, 1_600],
    [
      'a document in the other spelling',
      { inline_data: { mime_type: 'application/pdf', data: 'x'.repeat(100_000) } },
      3_000,
    ],
    ['a file', { fileData: { fileUri: 'gs://x' } }, 3_000],
    // As JSON: 29 bytes.
    ['a call', { functionCall: { name: 'f' } }, 9],
  ])('counts %s', (_what, part, expected) => {
    expect(estimateContentTokens(turn(part))).toBe(4 + expected);
  });

  it('counts the system prompt and the tools, in either spelling', () => {
    const parts = [{ text: 'x'.repeat(35) }];
    const tool = { functionDeclarations: [{ name: 'look' }] };
    expect(estimateContentTokens({ systemInstruction: { parts }, contents: [] })).toBe(10);
    expect(estimateContentTokens({ system_instruction: 'x'.repeat(35), contents: [] })).toBe(10);
    expect(estimateContentTokens({ tools: [tool] })).toBe(Math.ceil(JSON.stringify(tool).length / 3.5));
    expect(estimateContentTokens({})).toBe(0);
  });
});
