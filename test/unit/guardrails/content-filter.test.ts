import { describe, expect, it } from 'vitest';
import { contentFilter, keywordFinder } from '../../../src/domain/guardrails/kinds/content-filter.ts';
import { PREBUILT_NAMES, prebuiltFinder } from '../../../src/domain/guardrails/kinds/prebuilt-patterns.ts';
import { piecesOf } from '../../../src/domain/guardrails/kinds/decision-model.ts';
import { createPatternFinder } from '../../../src/runtime/guardrails/pattern-finder.ts';
import { cpuMs } from '../../support/cpu-time.ts';

/** Parts of a text that match a pattern. */
const matchesIn = (name: string, text: string): readonly string[] =>
  (prebuiltFinder(name)?.(text) ?? []).map(({ from, to }) => text.slice(from, to));

/** Card numbers and IBANs match only with valid check digits. */
const SAMPLES: readonly (readonly [name: string, text: string, parts: readonly string[]])[] = [
  ['email', 'to a.b+c@mail.example.co.uk, or x@y', ['a.b+c@mail.example.co.uk']],
  ['us_phone', 'call (415) 555-2671 or 4155552671, not 1234567', ['(415) 555-2671', '4155552671']],
  ['phone', 'call +49 30 901820 now', ['+49 30 901820']],
  ['us_ssn', '123-45-6789, not 000-45-6789 nor 923-45-6789', ['123-45-6789']],
  ['us_ssn_no_dash', 'id 123456789.', ['123456789']],
  ['visa', '4111-1111-1111-1111 and 4111-1111-1111-1112', ['4111-1111-1111-1111']],
  ['mastercard', '5500005555555559 x', ['5500005555555559']],
  ['amex', '3782 822463 10005', ['3782 822463 10005']],
  ['discover', '6011111111111117', ['6011111111111117']],
  ['credit_card', '378282246310005 and 4111111111111111', ['378282246310005', '4111111111111111']],
  ['iban', 'DE89 3704 0044 0532 0130 00, not DE89 3704 0044 0532 0130 01', ['DE89 3704 0044 0532 0130 00']],
  ['ipv4', '10.0.0.255, not 10.0.0.256 nor 1.2.3.4.5', ['10.0.0.255']],
  ['ipv6', 'at 2001:db8::1, not 12:30:45', ['2001:db8::1']],
  ['url', 'see https://example.com/a?b=c now', ['https://example.com/a?b=c']],
  ['aws_access_key', 'AKIAIOSFODNN7EXAMPLE', ['AKIAIOSFODNN7EXAMPLE']],
  [
    'aws_secret_key',
    'aws_secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"',
    ['wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'],
  ],
  ['github_token', `ghp_${'a1'.repeat(18)}`, [`ghp_${'a1'.repeat(18)}`]],
  ['openai_api_key', `sk-proj-${'a1'.repeat(12)} sk-no`, [`sk-proj-${'a1'.repeat(12)}`]],
  ['anthropic_api_key', `sk-ant-${'a1'.repeat(12)}`, [`sk-ant-${'a1'.repeat(12)}`]],
  ['google_api_key', `AIza${'b'.repeat(35)}`, [`AIza${'b'.repeat(35)}`]],
  ['slack_token', 'xoxb-1234567890-abc', ['xoxb-1234567890-abc']],
  [
    'jwt',
    `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}`,
    [`eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}`],
  ],
  ['generic_api_key', 'api_key: "abcdefghij0123456789"', ['abcdefghij0123456789']],
];

describe('prebuilt patterns', () => {
  it.each(SAMPLES)('find the matches of %s', (name, text, parts) => {
    expect(matchesIn(name, text)).toEqual(parts);
  });

  it('match whole private keys', () => {
    const key = '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----';
    expect(matchesIn('private_key', `a ${key} b`)).toEqual([key]);
  });

  it('do not exist for an unknown name', () => {
    expect([prebuiltFinder('nope'), prebuiltFinder('constructor')]).toEqual([null, null]);
  });

  const HOSTILE = [
    'a',
    '1',
    '.',
    ':',
    '@',
    '=',
    '-',
    'a@',
    'a.',
    '1 ',
    '1.',
    'a:',
    'eyJaaaaaaaa.',
    'sk-',
    'key=',
    'aws secret =',
    '-----BEGIN PRIVATE KEY-----',
    'http://',
    'DE89 ',
    '+1 ',
  ];
  it.each(PREBUILT_NAMES)('read 300,000 hostile characters within 2 s of CPU time: %s', (name) => {
    const find = prebuiltFinder(name);
    expect(find).not.toBeNull();
    for (const piece of HOSTILE) {
      const text = piece.repeat(Math.ceil(300_000 / piece.length));
      expect([piece, cpuMs(() => find?.(text)) < 2_000]).toEqual([piece, true]);
    }
  });
});

describe('configured patterns', () => {
  it('match case-insensitively, and do not backtrack', () => {
    expect(createPatternFinder('p[0-9]+')('P12 p3')).toEqual([
      { from: 0, to: 3 },
      { from: 4, to: 6 },
    ]);
    const find = () => createPatternFinder('(a+)+$')(`${'a'.repeat(50_000)}!`);
    expect(cpuMs(() => expect(find()).toEqual([]))).toBeLessThan(3_000);
  });

  it('are refused when they are invalid or too large', () => {
    for (const source of ['(', '(?<=a)b', 'a'.repeat(5_000), '((a{1,100}){1,100}){1,100}'])
      expect(() => createPatternFinder(source)).toThrow(/pattern/);
  });
});

describe('keywords', () => {
  it('match case-insensitively, without overlap', () => {
    expect(keywordFinder('aba')('xABAbaABA')).toEqual([
      { from: 1, to: 4 },
      { from: 6, to: 9 },
    ]);
  });

  it('match as the whole text where its lower case has another length, because positions differ', () => {
    expect(keywordFinder('bad')('İ bad')).toEqual([{ from: 0, to: 5 }]);
  });
});

describe('pieces of a long text', () => {
  it('overlap by a tenth of a piece, and cover the text', () => {
    expect(piecesOf('abcdefghijkl', 10)).toEqual(['abcdefghij', 'jkl']);
    expect(piecesOf('abcdefghij', 10)).toEqual(['abcdefghij']);
  });
});

describe('a content filter', () => {
  it.each(['keyword', 'constructor', '__proto__'])('counts the matches of a pattern named %s', async (name) => {
    const find = createPatternFinder('p[0-9]');
    const filter = contentFilter({ words: [], patterns: [{ name, action: 'MASK', replacement: '*', find }] });
    const verdict = await filter.check({ texts: [{ text: 'p1 p2', role: null }] } as never);
    expect(verdict).toMatchObject({ kind: 'edited', texts: ['* *'], report: [{ type: 'pattern' }] });
    expect(Object.entries('masked' in verdict ? verdict.masked : {})).toEqual([[name, 2]]);
  });
});
