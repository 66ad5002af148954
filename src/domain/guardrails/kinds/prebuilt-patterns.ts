import type { Finder, TextRange } from './content-filter.ts';

/** A pattern that needs no configuration. */
interface Prebuilt {
  /** All repetitions are bounded, so that the run time is linear in the text. */
  readonly expression: RegExp;
  /** Whether a match is valid, by its check digits or its syntax. Absent where every match is valid. */
  readonly isValid?: (match: string) => boolean;
}

const digitsOf = (text: string): readonly number[] => Array.from(text.replace(/\D/g, ''), Number);

/** Whether the check digit of a card number is right (Luhn algorithm). */
function hasLuhnCheckDigit(text: string): boolean {
  const sum = digitsOf(text)
    .toReversed()
    .reduce((total, digit, index) => {
      const weighted = index % 2 === 0 ? digit : digit * 2;
      return total + (weighted > 9 ? weighted - 9 : weighted);
    }, 0);
  return sum % 10 === 0;
}

/** Whether the check digits of an IBAN are right: the number modulo 97 is 1. */
function isIban(text: string): boolean {
  const compact = text.replaceAll(/[\s-]/g, '').toUpperCase();
  if (compact.length < 15 || compact.length > 34) return false;
  const rearranged = compact.slice(4) + compact.slice(0, 4);
  let rest = 0;
  for (const character of rearranged) {
    // A letter counts as two digits: A is 10, Z is 35.
    const value = Number.parseInt(character, 36);
    rest = (value > 9 ? rest * 100 + value : rest * 10 + value) % 97;
  }
  return rest === 1;
}

function isIpv6(text: string): boolean {
  // A time such as `12:30:45` is no address, and `::` alone is probably none.
  const hasFewGroups = text.split(':').length < 4 && !text.includes('::');
  const hasDigit = /[0-9a-f]/i.test(text);
  return !hasFewGroups && hasDigit && URL.canParse(`http://[${text}]/`);
}

const SEPARATOR = String.raw`[ -]?`;
const AMEX = String.raw`3[47]\d{2}${SEPARATOR}\d{6}${SEPARATOR}\d{5}`;
const groupsOfFour = (start: string): string => String.raw`${start}${SEPARATOR}\d{4}${SEPARATOR}\d{4}${SEPARATOR}\d{4}`;
const VISA = groupsOfFour(String.raw`4\d{3}`);
const MASTERCARD = groupsOfFour(String.raw`(?:5[1-5]\d{2}|222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)`);
const DISCOVER = groupsOfFour(String.raw`(?:6011|65\d{2}|64[4-9]\d)`);
const card = (...parts: readonly string[]): Prebuilt => ({
  expression: new RegExp(String.raw`(?<!\d)(?:${parts.join('|')})(?!\d)`, 'g'),
  isValid: hasLuhnCheckDigit,
});

const PATTERNS: Readonly<Record<string, Prebuilt>> = {
  email: { expression: /(?<![\w.%+-])[\w.%+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?![\w-])/gi },
  us_phone: { expression: /(?<![\w.])(?:\+?1[-. ]?)?(?:\([2-9]\d{2}\)|[2-9]\d{2})[-. ]?[2-9]\d{2}[-. ]?\d{4}(?!\d)/g },
  phone: { expression: /(?<![\w+])\+\d{1,3}(?:[-. ]?\(?\d{1,5}\)?){2,6}(?!\d)/g },
  us_ssn: { expression: /(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])/g },
  us_ssn_no_dash: { expression: /(?<!\d)(?!000|666|9\d\d)\d{3}(?!00)\d{2}(?!0000)\d{4}(?!\d)/g },
  visa: card(VISA),
  mastercard: card(MASTERCARD),
  amex: card(AMEX),
  discover: card(DISCOVER),
  credit_card: card(VISA, MASTERCARD, AMEX, DISCOVER),
  iban: {
    expression: /(?<![a-z\d])[a-z]{2}\d{2}(?:[ -]?[a-z\d]{4}){2,7}(?:[ -]?[a-z\d]{1,4})?(?![a-z\d])/gi,
    isValid: isIban,
  },
  ipv4: {
    expression: /(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?!\.?\d)/g,
  },
  ipv6: { expression: /(?<![\w:])(?:[\da-f]{0,4}:){2,7}[\da-f]{0,4}(?![\w:])/gi, isValid: isIpv6 },
  url: { expression: /(?<!\w)https?:\/\/[^\s<>"']{1,2048}/gi },
  aws_access_key: { expression: /(?<![A-Z\d])(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z\d]{16}(?![A-Z\d])/g },
  aws_secret_key: {
    // The lookahead comes first, because it fails immediately at most positions.
    expression: /(?=[a-z\d/+]{40}(?![a-z\d/+=]))(?<=aws.{0,20}secret.{0,24}[=:]\s{0,4}["']?)[a-z\d/+]{40}/gi,
  },
  github_token: { expression: /(?<!\w)(?:gh[pousr]_[A-Za-z\d]{36,255}|github_pat_\w{22,255})(?!\w)/g },
  gitlab_token: { expression: /(?<!\w)glpat-[\w-]{20,64}(?![\w-])/g },
  openai_api_key: { expression: /(?<![\w-])sk-(?:proj-|svcacct-|admin-)?[\w-]{20,255}(?![\w-])/g },
  anthropic_api_key: { expression: /(?<![\w-])sk-ant-[\w-]{20,255}(?![\w-])/g },
  google_api_key: { expression: /(?<![\w-])AIza[\w-]{35}(?![\w-])/g },
  slack_token: { expression: /(?<![\w-])xox[abeoprs]-[\w-]{10,255}(?![\w-])/g },
  stripe_key: { expression: /(?<!\w)(?:sk|rk|pk)_(?:live|test)_[A-Za-z\d]{16,255}(?!\w)/g },
  npm_token: { expression: /(?<!\w)npm_[A-Za-z\d]{36}(?!\w)/g },
  huggingface_token: { expression: /(?<!\w)hf_[A-Za-z\d]{30,64}(?!\w)/g },
  jwt: { expression: /(?<![\w-])eyJ[\w-]{8,4096}\.eyJ[\w-]{8,8192}\.[\w-]{8,2048}(?![\w-])/g },
  private_key: {
    expression:
      /-----BEGIN (?:[A-Z]{2,16} ){0,3}PRIVATE KEY-----[^-]{0,16384}(?:-----END (?:[A-Z]{2,16} ){0,3}PRIVATE KEY-----)?/g,
  },
  generic_api_key: {
    expression:
      /(?<=(?:api|secret|access|auth)[_-]?(?:key|token|secret)["']?\s{0,4}[=:]\s{0,4}["']?)[\w./+-]{16,128}(?![\w./+-])/gi,
  },
};

/** Names of patterns by alias. */
const ALIASES: Readonly<Record<string, string>> = {
  email_address: 'email',
  ssn: 'us_ssn',
  phone_number: 'us_phone',
  ip_address: 'ipv4',
  aws_access_key_id: 'aws_access_key',
  aws_secret_access_key: 'aws_secret_key',
  openai_key: 'openai_api_key',
  github_pat: 'github_token',
};

/** Names of the prebuilt patterns, without aliases. */
export const PREBUILT_NAMES: readonly string[] = Object.keys(PATTERNS);

/** Names of the prebuilt patterns that find secrets. */
export const SECRET_PATTERNS: readonly string[] = PREBUILT_NAMES.filter((name) => /key|token|jwt/.test(name));

/** Finder of a prebuilt pattern by its name or alias; null for an unknown name. */
export function prebuiltFinder(name: string): Finder | null {
  const patternName = Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? name) : name;
  const pattern = Object.hasOwn(PATTERNS, patternName) ? PATTERNS[patternName] : undefined;
  if (pattern === undefined) return null;
  const { expression, isValid } = pattern;
  return (text) => {
    const ranges: TextRange[] = [];
    for (const { 0: match, index } of text.matchAll(expression))
      if (match !== '' && (isValid === undefined || isValid(match)))
        ranges.push({ from: index, to: index + match.length });
    return ranges;
  };
}
