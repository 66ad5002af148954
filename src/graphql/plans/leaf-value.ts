import type { GraphQLLeafType } from 'graphql';
import { Unplanned } from './unplanned.ts';

/** A leaf value in the form of the answer. Not null. Throws for a value that its type does not have. */
export type LeafValue = (value: unknown) => string | number | boolean | object;

const isInt = (value: unknown): value is number => typeof value === 'number' && (value | 0) === value;
const isFloat = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isText = (value: unknown): value is string => typeof value === 'string';
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';

/** The types of the specification, and their values that need no conversion. */
const DIRECT: Readonly<Record<string, (value: unknown) => value is string | number | boolean>> = {
  Boolean: isFlag,
  Float: isFloat,
  ID: isText,
  Int: isInt,
  String: isText,
};

export function leafValue(type: GraphQLLeafType): LeafValue {
  const isDirect = DIRECT[type.name];
  const converted: LeafValue = (value) => {
    const coerced: unknown = type.coerceOutputValue(value);
    if (isText(coerced) || isFlag(coerced) || isFloat(coerced)) return coerced;
    if (typeof coerced !== 'object' || coerced === null) throw new Unplanned();
    return coerced;
  };
  return isDirect === undefined ? converted : (value) => (isDirect(value) ? value : converted(value));
}
