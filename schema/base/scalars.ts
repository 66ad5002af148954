import { GraphQLError } from 'graphql';

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** An integer of any size. Output only. */
export const BIG_INT = {
  description:
    'An integer of any size. A JSON number while it is exact in a double (up to 2^53 - 1), otherwise its decimal ' +
    'digits as text. Output only.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259#section-6',
  serialize(value: bigint | number): number | string {
    const integer = BigInt(value);
    return integer <= MAX_SAFE && integer >= -MAX_SAFE ? Number(integer) : String(integer);
  },
  parseValue(): never {
    throw new GraphQLError('BigInt is an output type.');
  },
};

/** An exact decimal number. */
export const DECIMAL = {
  description:
    'An exact decimal number as text, without exponent or trailing zeros: `0.000125`. Fields of answers that are ' +
    'amounts of money have this type.',
  specifiedByURL: 'https://www.w3.org/TR/xmlschema11-2/#decimal',
  serialize: (text: string): string => text,
  parseValue(value: unknown): string {
    if (typeof value === 'string' && /^-?\d{1,30}(\.\d{1,30})?$/.test(value)) return value;
    throw new GraphQLError('A Decimal is text such as "0.25".');
  },
};
