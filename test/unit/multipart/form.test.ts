import { describe, expect, it } from 'vitest';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { contentTypeOf, fieldsOf, readForm, withParts } from '../../../src/wire/multipart/form.ts';
import { randomFrom } from '../../support/random.ts';

const TYPE = 'multipart/form-data; boundary=b';
/** Headers of the part of a file. */
const FILE = 'Content-Disposition: form-data; name="file"; filename="a.bin"\r\nContent-Type: audio/wav';
/** Headers of the part of a field. */
const field = (name: string): string => `Content-Disposition: form-data; name="${name}"`;

/** A form of parts given as headers and content. */
const form = (parts: readonly (readonly [string, string | Buffer])[], boundary = 'b'): Buffer =>
  Buffer.concat([
    ...parts.flatMap(([headers, content]) => [
      Buffer.from(`--${boundary}\r\n${headers}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);

const fields = (bytes: Buffer, type = TYPE): unknown => fieldsOf(readForm(bytes, type));

function refusal(readFields: () => unknown): unknown {
  try {
    readFields();
  } catch (error) {
    if (error instanceof InvalidInput) return [error.message, error.issues[0]?.path, error.issues[0]?.rule];
    throw error;
  }
  return 'read';
}

describe('a form', () => {
  it('is read like a JSON object, with files by name', () => {
    const bytes = form([
      [field('model'), 'whisper'],
      [FILE, 'RIFF'],
      [field('include[]'), 'a'],
      [field('include[]'), 'b'],
      [field('timestamp_granularities[]'), 'word'],
      [field('prompt'), ''],
      [field('expires_after[seconds]'), '3600'],
    ]);
    expect(fields(bytes)).toEqual({
      model: 'whisper',
      file: { filename: 'a.bin', contentType: 'audio/wav', bytes: 4 },
      include: ['a', 'b'],
      timestamp_granularities: ['word'],
      prompt: '',
      'expires_after[seconds]': '3600',
    });
  });

  it('is read with several files of one name as a list', () => {
    const image = (name: string): string => `Content-Disposition: form-data; name="image"; filename="${name}"`;
    expect(
      fields(
        form([
          [image('1'), 'x'],
          [image('2'), 'y'],
        ]),
      ),
    ).toEqual({
      image: [
        { filename: '1', contentType: null, bytes: 1 },
        { filename: '2', contentType: null, bytes: 1 },
      ],
    });
  });

  it.each([
    ['a quoted boundary', form([[field('a'), '1']], "a b'c"), 'multipart/form-data; charset=utf-8; boundary="a b\'c"'],
    [
      'another case',
      form([[field('a').toUpperCase().replace('NAME="A"', 'name="a"'), '1']]),
      'Multipart/Form-Data;BOUNDARY=b',
    ],
    ['a bare name', form([['content-disposition:form-data;name=a', '1']]), TYPE],
    ['a first line break', Buffer.concat([Buffer.from('\r\n'), form([[field('a'), '1']])]), TYPE],
    ['spaces after the boundary', Buffer.from(`--b \t\r\n${field('a')}\r\n\r\n1\r\n--b--`), TYPE],
    ['an 8bit transfer encoding', form([[`${field('a')}\r\nContent-Transfer-Encoding: 8bit`, '1']]), TYPE],
    ['an unknown header', form([[`X-Note: x; y="\r\n${field('a')}`, '1']]), TYPE],
  ])('is read with %s', (_what, bytes, type) => {
    expect(fields(bytes, type)).toEqual({ a: '1' });
  });

  it.each([
    ['', { file: { filename: '', contentType: null, bytes: 1 } }],
    ['naïve 音.wav', { file: { filename: 'naïve 音.wav', contentType: null, bytes: 1 } }],
    ['C:\\dir\\a.wav', { file: { filename: 'C:\\dir\\a.wav', contentType: null, bytes: 1 } }],
  ])('keeps the name %j of a file', (name, expected) => {
    expect(fields(form([[`${field('file')}; filename="${name}"`, 'x']]))).toEqual(expected);
  });

  it('decodes a file name in the form of RFC 5987, and keeps other names unchanged', () => {
    const filenameOf = (value: string): unknown =>
      (fields(form([[`${field('file')}; filename*=${value}`, 'x']])) as { file: { filename: string } }).file.filename;
    expect([filenameOf("UTF-8''a%20%C3%A9.wav"), filenameOf("UTF-8''%E9"), filenameOf('plain')]).toEqual([
      'a é.wav',
      "UTF-8''%E9",
      'plain',
    ]);
  });

  it.each([
    ['no boundary', form([]), 'multipart/form-data', 'its content type has no boundary'],
    ['an empty boundary', form([]), 'multipart/form-data; boundary=""', 'its boundary violates RFC 2046'],
    [
      'a boundary that ends in a space',
      form([]),
      'multipart/form-data; boundary="b "',
      'its boundary violates RFC 2046',
    ],
    [
      'a boundary too long',
      form([]),
      `multipart/form-data; boundary=${'b'.repeat(71)}`,
      'its boundary violates RFC 2046',
    ],
    [
      'two boundaries',
      form([]),
      'multipart/form-data; boundary=b; boundary=c',
      'a header has the parameter boundary twice',
    ],
    ['another boundary', form([], 'c'), TYPE, 'it does not begin with its boundary'],
    ['no bytes', Buffer.from(''), TYPE, 'it does not begin with its boundary'],
    ['a preamble', Buffer.concat([Buffer.from('hello\r\n'), form([])]), TYPE, 'it does not begin with its boundary'],
    ['an epilogue', Buffer.concat([form([]), Buffer.from('x')]), TYPE, 'data follows its last boundary'],
    [
      'a boundary with further characters',
      Buffer.from(`--bc\r\n${field('a')}\r\n\r\n1\r\n--b--`),
      TYPE,
      'its boundary is not followed by a line break',
    ],
    [
      'line breaks of one byte',
      Buffer.from(`--b\n${field('a')}\n\n1\n--b--\n`),
      TYPE,
      'its boundary is not followed by a line break',
    ],
    [
      'headers without an end',
      Buffer.from(`--b\r\n${field('a')}\r\n--b--`),
      TYPE,
      'the headers of a part do not end, or are too long',
    ],
    [
      'headers that are too long',
      form([[`${field('a')}\r\nX: ${'x'.repeat(17_000)}`, '1']]),
      TYPE,
      'the headers of a part do not end, or are too long',
    ],
    ['no end', Buffer.from(`--b\r\n${field('a')}\r\n\r\n1\r\n`), TYPE, 'it does not end with its boundary'],
    [
      'one line break instead of two after the headers of an empty part',
      Buffer.from(`--b\r\n${field('a')}\r\n\r\n--b--`),
      TYPE,
      'it does not end with its boundary',
    ],
    [
      'a part without headers',
      Buffer.from('--b\r\n\r\n1\r\n--b--'),
      TYPE,
      'the headers of a part do not end, or are too long',
    ],
    [
      'a folded header',
      form([['Content-Disposition: form-data;\r\n name="a"', '1']]),
      TYPE,
      'a part has an invalid header',
    ],
    ['a control character', form([[field('a\u0000'), '1']]), TYPE, 'a part has an invalid header'],
    [
      'a repeated header',
      form([[`${field('a')}\r\n${field('model')}`, '1']]),
      TYPE,
      'a part has the header Content-Disposition twice',
    ],
    [
      'no disposition',
      form([['Content-Type: text/plain', '1']]),
      TYPE,
      'a part has no Content-Disposition of form-data',
    ],
    [
      'another disposition',
      form([['Content-Disposition: attachment; name="a"', '1']]),
      TYPE,
      'a part has no Content-Disposition of form-data',
    ],
    ['no name', form([['Content-Disposition: form-data; filename="a"', '1']]), TYPE, 'a part has no name'],
    ['an empty name', form([[field(''), '1']]), TYPE, 'a part has no name'],
    ['two names', form([[`${field('a')}; name="model"`, '1']]), TYPE, 'a header has the parameter name twice'],
    ['an encoded name', form([[`${field('a')}; name*=UTF-8''model`, '1']]), TYPE, 'the name of a part is encoded'],
    [
      'an escaped quote',
      form([[`${field('a')}; filename="x\\"; y="`, '1']]),
      TYPE,
      'a header has an invalid parameter',
    ],
    [
      'an unclosed quote',
      form([['Content-Disposition: form-data; name="a', '1']]),
      TYPE,
      'a header has an invalid parameter',
    ],
    [
      'a base64 transfer encoding',
      form([[`${field('a')}\r\nContent-Transfer-Encoding: base64`, 'MQ==']]),
      TYPE,
      'the part "a" has a Content-Transfer-Encoding',
    ],
    [
      'a repeated field',
      form([
        [field('model'), 'a'],
        [field('model'), 'b'],
      ]),
      TYPE,
      'the field "model" comes twice',
    ],
    [
      'a field that is not UTF-8',
      form([[field('model'), Buffer.from([0xff])]]),
      TYPE,
      'the field "model" is not UTF-8',
    ],
    ['a field too long', form([[field('model'), 'x'.repeat(1024 * 1024 + 1)]]), TYPE, 'the field "model" is too long'],
    [
      'too many parts',
      form(Array.from({ length: 513 }, (_, index) => [field(`f${index}`), ''] as const)),
      TYPE,
      'it has more than 512 parts',
    ],
  ])('with %s is refused', (_what, bytes, type, reason) => {
    expect(refusal(() => fields(bytes, type))).toEqual([
      `The request body is not a valid form: ${reason}.`,
      ['request_body'],
      'multipart',
    ]);
  });

  it('is read at the limits of parts and of the length of a field', () => {
    const parts = Array.from({ length: 511 }, (_, index) => [field(`f${index}`), ''] as const);
    const longField = [field('long'), 'x'.repeat(1024 * 1024)] as const;
    expect(readForm(form([...parts, longField]), TYPE).parts).toHaveLength(512);
    expect((fields(form([longField])) as { long: string }).long).toHaveLength(1024 * 1024);
  });
});

describe('a form with fields changed', () => {
  const bytes = form([
    [field('model'), 'public'],
    [FILE, Buffer.from([0xff, 0, 0x0d, 0x0a, 0x2d, 0x2d])],
    [field('tags'), 'x'],
    [field('prompt'), 'é'],
  ]);

  it('keeps the bytes of every other part, without copying them', () => {
    const read = readForm(bytes, TYPE);
    // Null removes a part, and undefined keeps it.
    const changes: Readonly<Record<string, string | null>> = { model: 'up-1', tags: null };
    const change = ({ name }: { name: string }) => changes[name];
    const pieces = withParts(read, change, { stream: 'true' });
    expect(Buffer.concat(pieces)).toEqual(
      form([
        [field('model'), 'up-1'],
        [FILE, Buffer.from([0xff, 0, 0x0d, 0x0a, 0x2d, 0x2d])],
        [field('prompt'), 'é'],
        [field('stream'), 'true'],
      ]),
    );
    // The memory of small buffers is shared: a view of the form also lies between its first and its last byte.
    const isView = ({ buffer, byteOffset }: Uint8Array): boolean =>
      buffer === bytes.buffer && byteOffset >= bytes.byteOffset && byteOffset < bytes.byteOffset + bytes.length;
    expect(pieces.filter(isView)).toHaveLength(2);
  });

  it('is the same form when nothing is changed', () => {
    expect(Buffer.concat(withParts(readForm(bytes, TYPE), () => undefined))).toEqual(bytes);
  });

  it.each([
    ['b', 'multipart/form-data; boundary=b'],
    ['a b', 'multipart/form-data; boundary="a b"'],
  ])('has a quoted boundary where needed: %j', (boundary, expected) => {
    expect(contentTypeOf(readForm(form([], boundary), `multipart/form-data; boundary="${boundary}"`))).toBe(expected);
  });
});

const BOUNDARY_CHARACTERS = "0aZ'()+_,-./:=?";

it('a form keeps any content with any boundary, byte for byte', () => {
  for (let seed = 1; seed <= 400; seed += 1) {
    const random = randomFrom(seed);
    const pick = (text: string): string => text[random(text.length)] ?? '';
    const boundary = Array.from({ length: 1 + random(20) }, () => pick(BOUNDARY_CHARACTERS)).join('');
    // Content consists of parts of delimiters, so that near matches are frequent.
    const alphabet = ['\r', '\n', '-', '--', `--${boundary}`.slice(0, -1), boundary.slice(1), '\u0000', 'x'];
    const content = (): string => Array.from({ length: random(40) }, () => alphabet[random(alphabet.length)]).join('');
    const isSafe = (text: string): boolean => !`\r\n${text}\r\n`.includes(`\r\n--${boundary}`);
    const contents = Array.from({ length: random(5) }, content).filter(isSafe);
    const bytes = form(
      contents.map((text, index) => [`${field(`f${index}`)}; filename="x"`, Buffer.from(text, 'latin1')] as const),
      boundary,
    );
    const read = readForm(bytes, `multipart/form-data; boundary="${boundary}"`);
    expect(read.parts.map(({ bodyStart, bodyEnd }) => bytes.toString('latin1', bodyStart, bodyEnd))).toEqual(contents);
    const spliced = Buffer.concat(withParts(read, ({ name }) => (name === 'f1' ? 'new' : undefined)));
    const after = readForm(spliced, contentTypeOf(read));
    expect(after.parts.map(({ bodyStart, bodyEnd }) => spliced.toString('latin1', bodyStart, bodyEnd))).toEqual(
      contents.map((text, index) => (index === 1 ? 'new' : text)),
    );
  }
});

it('a damaged form is read, or refused with InvalidInput', () => {
  const whole = form([
    [field('model'), 'm'],
    [FILE, 'RIFF\r\n--'],
    [field('include[]'), 'x'],
  ]);
  const outcomes = new Set<unknown>();
  for (let seed = 1; seed <= 2_000; seed += 1) {
    const random = randomFrom(seed);
    const damaged = Buffer.from(whole);
    for (let changes = 1 + random(3); changes > 0; changes -= 1) damaged[random(damaged.length)] = random(256);
    const cut = damaged.subarray(0, random(4) === 0 ? random(damaged.length) : damaged.length);
    const outcome = refusal(() => fields(cut));
    outcomes.add(outcome === 'read' ? outcome : 'refused');
  }
  expect(outcomes).toEqual(new Set(['read', 'refused']));
});
