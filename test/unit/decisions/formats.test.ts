import { describe, expect, it } from 'vitest';
import type { DecisionCore, DecisionRequest } from '../../../src/domain/decisions/decision.ts';
import { readAttachments } from '../../../src/wire/decisions/attachments.ts';
import { readNamedMap, writeNamedMap } from '../../../src/wire/decisions/named-map-request.ts';
import { readStandard, writeStandard } from '../../../src/wire/decisions/standard-request.ts';

const predicate = { type: 'predicate', instructions: 'is it fine?' };
const choice = (choices: unknown): object => ({ type: 'choice', instructions: 'pick', choices });
const score = (levels: unknown): object => ({ type: 'score', instructions: 'rate', levels });
const values = (count: number): object[] => Array.from({ length: count }, (_one, index) => ({ value: `v${index}` }));
const labels = (count: number): object[] => Array.from({ length: count }, (_one, index) => ({ label: `l${index}` }));

const standard = (questions: unknown, input: unknown = 'a ticket'): DecisionCore => readStandard({ input, questions });
const namedMap = (questions: unknown, state: unknown = 'a ticket'): DecisionCore =>
  readNamedMap({ state, questions }, null);

const NOTHING = { images: [], assets: [], audio: [], videos: [], safetyIdentifier: null };
const withoutAttachments = (core: DecisionCore): DecisionRequest => ({ ...core, ...NOTHING });
const message = (content: unknown, overrides: object = {}): object => ({ role: 'user', content, ...overrides });

describe('a request in the standard format', () => {
  it.each([
    ['an empty text', '', [predicate]],
    ['no messages', [], [predicate]],
    ['a message without parts', [message([])], [predicate]],
    ['a message without a role', [{ content: 'x' }], [predicate]],
    ['an empty name and empty instructions', 'x', [{ ...predicate, name: '', instructions: '' }]],
    ['a name of null', 'x', [{ ...predicate, name: null }]],
    ['2 and 255 options', 'x', [choice(values(2)), choice(values(255))]],
    ['2 and 10 levels', 'x', [score(labels(2)), score(labels(10))]],
    ['equal labels of levels', 'x', [score([{ label: 'x' }, { label: 'x' }])]],
    ['a boolean and another text', 'x', [choice([{ value: true }, { value: 'True' }])]],
    ['1 and 0 for booleans', 'x', [choice([{ value: 1 }, { value: 0 }])]],
    ['an empty value', 'x', [choice([{ value: '' }, { value: 'b' }])]],
    ['roles of a conversation', [message('x', { role: 'system' }), message('y', { role: 'assistant' })], [predicate]],
    ['JSON in a message', [message([{ type: 'input_json', data: { a: 1 } }])], [predicate]],
    ['instructions of parts', 'x', [{ ...predicate, instructions: [{ type: 'input_text', text: 'q' }] }]],
    [
      'a tool call and its output',
      [
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'done' },
      ],
      [predicate],
    ],
  ])('may have %s', (_title, input, questions) => {
    expect(readStandard({ input, questions }).questions).toHaveLength(questions.length);
  });

  it.each<readonly [string, unknown, unknown]>([
    ['input: it is required', undefined, [predicate]],
    ['input: it must be a string or an array of messages', 3, [predicate]],
    ['input.0: it must be an object', ['x'], [predicate]],
    ['input.0.name: the member is not known here', [message('x', { name: 'bob' })], [predicate]],
    ['input.0.type: it must be "message" or the type of a tool item', [message('x', { type: 'zzz' })], [predicate]],
    ['input.0.content.0: it must be an object with a type of', [message([{ type: 'text', text: 'x' }])], [predicate]],
    [
      'input.0.call_id: no call of the input has this id',
      [{ type: 'function_call_output', call_id: 'c', output: '' }],
      [predicate],
    ],
    ['questions: it is required', 'x', undefined],
    ['questions: it must be an array', 'x', null],
    ['questions: it must be an array', 'x', { ok: predicate }],
    ['questions: it must have at least 1 item', 'x', []],
    ['questions.0: it must be an object', 'x', ['x']],
    ['questions.0.type: it must be one of predicate, choice, score, box', 'x', [{ instructions: 'x' }]],
    ['questions.0.type: it must be one of predicate, choice, score, box', 'x', [{ ...predicate, type: 'noul' }]],
    ['questions.0.instructions: it must be a string or an array of parts', 'x', [{ type: 'predicate' }]],
    ['questions.0.foo: the member is not known here', 'x', [{ ...predicate, foo: 1 }]],
    ['questions.0.name: it must be a string', 'x', [{ ...predicate, name: 5 }]],
    ['questions.0.choices: it must have 2 to 255 items, not 1', 'x', [choice(values(1))]],
    ['questions.0.choices: it must have 2 to 255 items, not 256', 'x', [choice(values(256))]],
    ['questions.0.choices.0: it must be an object', 'x', [choice(['a', 'b'])]],
    ['questions.0.choices.1.value: it must be a string or a boolean', 'x', [choice([{ value: 1 }, { value: 2 }])]],
    ['questions.0.choices: the values must be distinct', 'x', [choice([{ value: true }, { value: 'true' }])]],
    ['questions.0.levels: it must have 2 to 10 items, not 1', 'x', [score(labels(1))]],
    ['questions.0.levels: it must have 2 to 10 items, not 11', 'x', [score(labels(11))]],
    ['questions.0.levels.0.label: it must be a string', 'x', [score([{ description: 'x' }, { label: 'y' }])]],
  ])('is refused: %s', (problem, input, questions) => {
    expect(() => readStandard({ input, questions })).toThrow(`Invalid Decisions request: ${problem}`);
  });

  it.each([
    ['repeated', { ...predicate, name: 'ok' }],
    ['missing', predicate],
  ])('becomes the named-map format with keys by position when a name is %s', (_what, secondQuestion) => {
    const questions = [{ ...predicate, name: 'ok' }, secondQuestion];
    const text = writeNamedMap(withoutAttachments(standard(questions)), 'm', { textOf: () => null, members: {} });
    // The named-map format calls a predicate `noul`.
    const noul = { type: 'noul', instructions: 'is it fine?' };
    expect(JSON.parse(text)).toEqual({ model: 'm', state: 'a ticket', questions: { 0: noul, 1: noul } });
  });

  it('becomes the named-map format: user messages are joined, other roles and tool items are named', () => {
    const stateOf = (input: unknown): unknown => {
      const text = writeNamedMap(withoutAttachments(standard([predicate], input)), null, {
        textOf: () => null,
        members: {},
      });
      return (JSON.parse(text) as { state: unknown }).state;
    };
    const parts = [
      { type: 'input_text', text: 'two' },
      { type: 'input_json', data: { a: [1, 'é'] } },
    ];
    expect(stateOf([message('one'), message(parts)])).toBe('one\n\ntwo\n\n{"a":[1,"é"]}');
    expect(
      stateOf([
        message('be kind', { role: 'system' }),
        message('hi'),
        { type: 'function_call', call_id: 'c', name: 'look', arguments: '{"x":1}' },
        { type: 'function_call_output', call_id: 'c', output: 'seen' },
      ]),
    ).toBe('[system]\nbe kind\n\n[user]\nhi\n\n[call of look]\n{"x":1}\n\n[output of a call]\nseen');
  });
});

describe('a request in the named-map format', () => {
  it.each([
    ['an empty state', { x: { type: 'noul', instructions: 'q' } }, ''],
    ['a state of objects', { x: { type: 'noul', instructions: 'q' } }, { a: 1 }],
    ['criteria without instructions', { x: { type: 'noul', criteria: {} } }, 'x'],
    ['one option', { x: { type: 'choice', criteria: { only: null } } }, 'x'],
    ['one level', { x: { type: 'score', criteria: ['l0'] } }, 'x'],
    ['instructions that are objects', { x: { type: 'noul', instructions: { ask: 'q' } } }, 'x'],
    ['a box', { x: { type: 'box', instructions: 'the mug' } }, 'x'],
  ])('may have %s', (_title, questions, state) => {
    expect(namedMap(questions, state).questions).toHaveLength(1);
  });

  it.each<readonly [string, unknown, unknown]>([
    ['state: it is required', { x: { type: 'noul', instructions: 'q' } }, undefined],
    ['state: it must be a string, an object or an array', { x: { type: 'noul', instructions: 'q' } }, null],
    ['state: it must be a string, an object or an array', { x: { type: 'noul', instructions: 'q' } }, 3],
    ['questions: it is required', undefined, 'x'],
    ['questions: it must be an object', [predicate], 'x'],
    ['questions: it must have at least 1 question', {}, 'x'],
    ['questions: a name must have at least 1 character', { '': { type: 'noul', instructions: 'q' } }, 'x'],
    ['questions.x: it must have instructions or criteria', { x: { type: 'noul' } }, 'x'],
    ['questions.x.criteria: its members must be', { x: { type: 'noul', criteria: { maybe: 't' } } }, 'x'],
    ['questions.x.type: it must be one of noul, choice, score, box', { x: predicate }, 'x'],
    ['questions.x.instructions: it must be', { x: { type: 'noul', instructions: 3 } }, 'x'],
    ['questions.x.criteria: it must be an object of options', { x: { type: 'choice', instructions: 'q' } }, 'x'],
    ['questions.x.criteria: it must have 1 to 255 options, not 0', { x: { type: 'choice', criteria: {} } }, 'x'],
    ['questions.x.criteria: it must be an array of levels', { x: { type: 'score', criteria: 'low' } }, 'x'],
    ['questions.x.criteria: it must have 1 to 10 levels', { x: { type: 'score', criteria: values(11) } }, 'x'],
    ['questions.x.criteria.0: it must be', { x: { type: 'score', criteria: [null] } }, 'x'],
    ['questions.x.instructions: it is required', { x: { type: 'box' } }, 'x'],
  ])('is refused: %s', (problem, questions, state) => {
    expect(() => readNamedMap({ state, questions }, null)).toThrow(`Invalid Decisions request: ${problem}`);
  });

  it('becomes the standard format, with rules and JSON as text', () => {
    const core = namedMap({
      n1: { type: 'noul', instructions: 'q', criteria: { true: 'when yes', false: 'when no' } },
      n2: { type: 'noul', criteria: { true: { k: 1 } } },
      n3: { type: 'choice', criteria: { x: null, y: { d: 1 } } },
      n4: { type: 'score', criteria: [{ a: 1 }, 'two', ['z']] },
      n5: { type: 'noul', instructions: { ask: 'é?' } },
      n6: { type: 'noul', criteria: {}, weight: 2 },
    });
    expect(writeStandard(withoutAttachments(core), 'm')).toEqual({
      model: 'm',
      input: 'a ticket',
      questions: [
        {
          type: 'predicate',
          name: 'n1',
          instructions: 'q\n\nAnswer true when: when yes\n\nAnswer false when: when no',
        },
        { type: 'predicate', name: 'n2', instructions: 'Answer true when: {"k": 1}' },
        {
          type: 'choice',
          name: 'n3',
          instructions: 'Which choice best fits the input?',
          choices: [{ value: 'x' }, { value: 'y', description: '{"d": 1}' }],
        },
        {
          type: 'score',
          name: 'n4',
          instructions: 'Which level best fits the input?',
          levels: [{ label: '{"a": 1}' }, { label: 'two' }, { label: '["z"]' }],
        },
        { type: 'predicate', name: 'n5', instructions: '{"ask": "\\u00e9?"}' },
        { type: 'predicate', name: 'n6', instructions: 'Is this true of the input?' },
      ],
    });
  });

  it('has no standard form for one option', () => {
    const core = namedMap({ x: { type: 'choice', criteria: { only: null } } });
    expect(() => writeStandard(withoutAttachments(core), 'm')).toThrow('at least 2 entries');
  });

  it('keeps the order of names and options that are numbers', () => {
    const text =
      '{"state":"x","questions":{"2":{"type":"choice","criteria":{"10":"a","b":null,"9":null}},"1":{"type":"noul","instructions":"q"}}}';
    const core = readNamedMap(JSON.parse(text) as Record<string, unknown>, Buffer.from(text));
    expect(core.questions.map(({ name }) => name)).toEqual(['2', '1']);
    expect(writeNamedMap(withoutAttachments(core), null, { textOf: () => null, members: {} })).toBe(text);
  });
});

describe('attachments', () => {
  const png = 'data:image/png;base64,AAAA';

  it('are read in the forms of the format', () => {
    const images = [png, 'https://host/x.png', { content_type: 'image/png', base64: 'AAAA' }];
    const body = {
      images,
      assets: { photo: { format: 'png', data_base64: 'AAAA' } },
      audio: ['data:audio/wav;base64,AAAA'],
      videos: [{ content_type: 'video/mp4', base64: 'BBBB' }],
      safety_identifier: 'u-1',
    };
    expect(readAttachments(body, 'named-map', false)).toEqual({
      images: [png, 'https://host/x.png', { contentType: 'image/png', base64: 'AAAA' }],
      assets: [['photo', { format: 'png', data_base64: 'AAAA' }]],
      audio: ['data:audio/wav;base64,AAAA'],
      videos: [{ contentType: 'video/mp4', base64: 'BBBB' }],
      safetyIdentifier: 'u-1',
    });
  });

  it.each<readonly [string, object]>([
    ['images: it must be an array', { images: 'zzz' }],
    ['images.0: it must be a data URL', { images: ['zzz'] }],
    ['images.0: it must be a data URL', { images: [{ content_type: 'image/PNG; x=1', base64: 'AAAA' }] }],
    ['assets.p: it must be an image', { assets: { p: { format: 'gif', data_base64: 'AAAA' } } }],
    ['assets.ppp', { assets: { ['p'.repeat(1025)]: { format: 'png', data_base64: 'AAAA' } } }],
    ['audio: it must have at most 4 items, not 5', { audio: Array.from({ length: 5 }, () => 'x') }],
    ['audio.0: it must be a data URL', { audio: ['zzz'] }],
    ['videos: it must have at most 2 items, not 3', { videos: Array.from({ length: 3 }, () => 'x') }],
    ['safety_identifier: it must be a string', { safety_identifier: 5 }],
  ])('are refused: %s', (problem, body) => {
    expect(() => readAttachments({ ...body }, 'named-map', false)).toThrow(`Invalid Decisions request: ${problem}`);
  });

  it('that are malformed are dropped on request', () => {
    const body = { images: ['zzz', png], assets: { p: {} }, safety_identifier: 5 };
    expect(readAttachments(body, 'named-map', true)).toMatchObject({
      images: [png],
      assets: [],
      safetyIdentifier: null,
    });
  });

  it('that are images are refused in the standard format, or ignored on request', () => {
    expect(() => readAttachments({ images: [png] }, 'standard', false)).toThrow(
      'images belongs to the named-map format',
    );
    expect(readAttachments({ images: [png] }, 'standard', true).images).toEqual([]);
  });
});
