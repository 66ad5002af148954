import Anthropic from '@anthropic-ai/sdk';
import { FunctionCallingConfigMode, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/start-app.ts';

const PERSON = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 18 }, tags: { type: 'array', items: {} } },
  required: ['name', 'age', 'tags'],
  additionalProperties: false,
} as const;
/** Instance of `PERSON` that the demo model writes: the text `demo`, the minimum, and an empty list. */
const A_PERSON = { name: 'demo', age: 18, tags: [] };
const PLACE = {
  type: 'object' as const,
  properties: { city: { type: 'string', enum: ['Wien', 'Oslo'] } },
  required: ['city'],
};
/** Instance of `PLACE` that the demo model writes: the first value of the `enum`. */
const A_PLACE = { city: 'Wien' };
/** A prompt that names no tool. */
const PROMPT = 'How warm is it?';

let app: TestApp;
let openai: OpenAI;
let anthropic: Anthropic;
let google: GoogleGenAI;

beforeAll(async () => {
  app = await startApp();
  openai = new OpenAI({ apiKey: app.adminKey, baseURL: `${app.url}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: app.adminKey, baseURL: app.url, maxRetries: 0 });
  google = new GoogleGenAI({ apiKey: app.adminKey, httpOptions: { baseUrl: app.url } });
});
afterAll(() => app.stop());

const tool = (name: string) => ({ type: 'function' as const, function: { name, parameters: PLACE } });
/** The demo model calls the first tool if a request demands a call and names no tool. */
const TOOLS = [tool('look_up'), tool('weather')];
type Choice = OpenAI.ChatCompletionToolChoiceOption;

describe('the demo model in chat completions', () => {
  it.each<[string, Choice, string | null]>([
    ['auto', 'auto', null],
    ['none', 'none', null],
    ['required', 'required', 'look_up'],
    ["any, as Mistral's clients send it", 'any' as Choice, 'look_up'],
    ['a name', { type: 'function', function: { name: 'weather' } }, 'weather'],
    [
      'allowed tools',
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [tool('weather')] } },
      'weather',
    ],
  ])('follows tool_choice: %s', async (_what, choice, called) => {
    const messages = [{ role: 'user' as const, content: PROMPT }];
    const body = { model: 'demo', messages, tools: TOOLS, tool_choice: choice };
    const { choices } = await openai.chat.completions.create(body);
    const calls = choices[0]?.message.tool_calls ?? [];
    const functions = calls.map((call) => (call.type === 'function' ? call.function : null));
    expect(functions).toEqual(called === null ? [] : [{ name: called, arguments: JSON.stringify(A_PLACE) }]);
  });

  it('answers the result of a tool with text, which ends the loop of an agent', async () => {
    const toolInputs: unknown[] = [];
    const runner = openai.chat.completions.runTools({
      model: 'demo',
      messages: [{ role: 'user', content: 'Use weather, please.' }],
      tools: [
        {
          type: 'function',
          function: {
            name: 'weather',
            description: 'The weather at a place.',
            parameters: PLACE,
            parse: JSON.parse,
            function: (place: unknown) => {
              toolInputs.push(place);
              return 'Rain.';
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toMatch(/The tool answered: Rain\.$/);
    expect(toolInputs).toEqual([A_PLACE]);
  });

  it('writes a valid instance of a schema, whole and streamed, and any object without a schema', async () => {
    const messages = [{ role: 'user' as const, content: PROMPT }];
    const format = { type: 'json_schema' as const, json_schema: { name: 'person', strict: true, schema: PERSON } };
    const body = { model: 'demo', messages, response_format: format };
    const whole = await openai.chat.completions.create(body);
    expect(JSON.parse(whole.choices[0]?.message.content ?? '')).toEqual(A_PERSON);
    const streamed = await openai.chat.completions.stream(body).finalContent();
    expect(JSON.parse(streamed ?? '')).toEqual(A_PERSON);
    const loose = await openai.chat.completions.create({ ...body, response_format: { type: 'json_object' } });
    expect(JSON.parse(loose.choices[0]?.message.content ?? '')).toEqual({ reply: expect.stringContaining(PROMPT) });
  });
});

describe('the demo model in other dialects', () => {
  it('calls a required tool and follows a schema: responses', async () => {
    const weather = { type: 'function' as const, name: 'weather', strict: false, parameters: PLACE };
    const called = await openai.responses.create({
      model: 'demo',
      input: PROMPT,
      tools: [weather],
      tool_choice: { type: 'function', name: 'weather' },
    });
    expect(called.output).toMatchObject([
      { type: 'function_call', name: 'weather', arguments: JSON.stringify(A_PLACE) },
    ]);
    const format = { type: 'json_schema' as const, name: 'person', schema: PERSON, strict: true };
    const formatted = await openai.responses.create({ model: 'demo', input: PROMPT, text: { format } });
    expect(JSON.parse(formatted.output_text)).toEqual(A_PERSON);
  });

  it('calls a required tool and follows a schema: messages', async () => {
    const body = { model: 'demo', max_tokens: 100, messages: [{ role: 'user' as const, content: PROMPT }] };
    for (const choice of [{ type: 'any' as const }, { type: 'tool' as const, name: 'weather' }]) {
      const tools = [{ name: 'weather', input_schema: PLACE }];
      const called = await anthropic.messages.create({ ...body, tools, tool_choice: choice });
      expect(called.stop_reason).toBe('tool_use');
      expect(called.content).toMatchObject([{ type: 'tool_use', name: 'weather', input: A_PLACE }]);
    }
    const config = { format: { type: 'json_schema' as const, schema: PERSON } };
    const formatted = await anthropic.messages.create({ ...body, output_config: config });
    const [block] = formatted.content;
    expect(block?.type === 'text' ? JSON.parse(block.text) : null).toEqual(A_PERSON);
  });

  it('calls a required function and follows a schema: generateContent', async () => {
    const called = await google.models.generateContent({
      model: 'demo',
      contents: PROMPT,
      config: {
        tools: [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: PLACE }] }],
        toolConfig: {
          functionCallingConfig: { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: ['weather'] },
        },
      },
    });
    expect(called.functionCalls).toMatchObject([{ name: 'weather', args: A_PLACE }]);
    const formatted = await google.models.generateContent({
      model: 'demo',
      contents: PROMPT,
      config: { responseMimeType: 'application/json', responseJsonSchema: PERSON },
    });
    expect(JSON.parse(formatted.text ?? '')).toEqual(A_PERSON);
  });
});
