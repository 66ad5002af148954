import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  getNamedType,
  getNullableType,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
} from 'graphql';
import { expect, it } from 'vitest';
import { ROOT } from './repository.ts';

const published = buildSchema(readFileSync(join(ROOT, 'schema.graphql'), 'utf8'));

/** Mutations without the single argument `input`, or whose result is not a union, with the reason. */
const OTHER_MUTATIONS: Readonly<Record<string, string>> = {
  'createCheckout()': 'a purchase has no choices',
  'refreshCatalog()': 'a check of the source has no choices',
  'resetAllSpend()': 'it names no key and no team, and refuses none',
  'resetAllSpend: SpendResets': 'it names no key and no team, and refuses none',
  'resumeLenses()': 'it names no lens, and reports each lens that it skips',
  'resumeLenses: ResumedLenses': 'it names no lens, and reports each lens that it skips',
};

/** Connections without `totalCount`, with the reason. */
const UNCOUNTED: Readonly<Record<string, string>> = {
  SpendRowConnection: 'a count reads all calls of the window',
  CatalogChangeConnection: 'a count reads the history of all prices',
  CheckoutConnection: 'its pages are read from the store in parts',
};

interface Member {
  readonly name: string;
  readonly description?: string | null | undefined;
}

const memberOf = ({ description }: Member, name: string): Member => ({ name, description });

function membersOf(type: GraphQLNamedType): readonly Member[] {
  if (isEnumType(type)) return type.getValues().map((value) => memberOf(value, `${type.name}.${value.name}`));
  if (isInputObjectType(type))
    return Object.values(type.getFields()).map((field) => memberOf(field, `${type.name}.${field.name}`));
  if (!isObjectType(type) && !isInterfaceType(type)) return [];
  return Object.values(type.getFields()).flatMap((field) => [
    memberOf(field, `${type.name}.${field.name}`),
    ...field.args.map((arg) => memberOf(arg, `${type.name}.${field.name}(${arg.name})`)),
  ]);
}

/**
 * Style errors of a graph: descriptions, `@specifiedBy`, types of amounts, connections, inputs and results of
 * mutations.
 */
function faultsOf(schema: typeof published): readonly string[] {
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type),
  );
  const faults: string[] = [];
  for (const type of types) {
    for (const { name, description } of [type, ...membersOf(type)])
      if ((description ?? '') === '') faults.push(`${name} has no description`);
    if (isScalarType(type) && (type.specifiedByURL ?? '') === '') faults.push(`${type.name} has no @specifiedBy`);
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields()))
      if (field.name.endsWith('Usd') && getNamedType(field.type).name !== 'Decimal')
        faults.push(`${type.name}.${field.name} is not a Decimal`);
    const { pageInfo, nodes, totalCount } = type.getFields();
    if (pageInfo !== undefined) {
      if (nodes === undefined) faults.push(`${type.name} has no nodes`);
      if (totalCount === undefined && UNCOUNTED[type.name] === undefined) faults.push(`${type.name} has no totalCount`);
    }
  }
  for (const { name, args, type } of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const signature = `${name}(${args.map((arg) => arg.name).join()})`;
    if (signature !== `${name}(input)` && OTHER_MUTATIONS[signature] === undefined)
      faults.push(`${signature} does not take one input`);
    const result = `${name}: ${String(getNullableType(type))}`;
    if (!isUnionType(getNamedType(type)) && OTHER_MUTATIONS[result] === undefined)
      faults.push(`${result} is not a union`);
  }
  return faults;
}

it('the graph has no style errors', () => {
  expect(faultsOf(published)).toEqual([]);
});

it('planted style errors are reported', () => {
  const poor = buildSchema(`
    scalar Money
    "A page." type XConnection { "Its cursor." pageInfo: Int }
    "The root." type Query { price: Int "Money." costUsd: Float "A page." xs: XConnection }
    "Changes." type Mutation { "One." change(id: ID!): Money }
  `);
  expect(faultsOf(poor)).toEqual([
    'Money has no description',
    'Money has no @specifiedBy',
    'XConnection has no nodes',
    'XConnection has no totalCount',
    'Query.price has no description',
    'Query.costUsd is not a Decimal',
    'Mutation.change(id) has no description',
    'change(id) does not take one input',
    'change: Money is not a union',
  ]);
});
