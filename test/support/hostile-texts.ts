import { chatOf, ENTRY, type HostileDocument, many } from './hostile-document.ts';

/** Fragments F0 to F(count). Each except the last spreads the next one twice, under two aliases of the field. */
const doubling = (count: number, type: string, field: string, leaf: string): string =>
  `${many(count, (i) => `fragment F${i} on ${type} { a: ${field} { ...F${i + 1} } b: ${field} { ...F${i + 1} } }`)}
  fragment F${count} on ${type} { ${leaf} }`;

/** Fragments F0 to F(count). Each except the last spreads the next one. */
const chain = (count: number, type: string, leaf: string): string =>
  `${many(count, (i) => `fragment F${i} on ${type} { ...F${i + 1} }`)} fragment F${count} on ${type} { ${leaf} }`;

const TYPE_REF = `${'kind name ofType { '.repeat(9)}kind name${' }'.repeat(9)}`;
const FULL_SCHEMA = `queryType { name } types { kind name description fields(includeDeprecated: true) { name description
  args { name description type { ${TYPE_REF} } defaultValue } type { ${TYPE_REF} } isDeprecated } inputFields { name
  description type { ${TYPE_REF} } } enumValues { name description } possibleTypes { name } interfaces { name } }
  directives { name description args { name } locations }`;

/** Expensive introspection documents. */
export const INTROSPECTION: readonly HostileDocument[] = [
  {
    name: 'the schema 800 times',
    query: `{ ${many(800, (i) => `a${i}: __schema { ...S }`)} } fragment S on __Schema { ${FULL_SCHEMA} }`,
  },
  {
    name: 'the schema twice',
    query: `{ a: __schema { ...S } b: __schema { ...S } } fragment S on __Schema { ${FULL_SCHEMA} }`,
  },
  { name: 'the schema once, after a comment', query: `# ${'x'.repeat(10)}\n{ __schema { ${FULL_SCHEMA} } }` },
  {
    name: 'one type 490 times',
    query: `{ ${many(490, (i) => `a${i}: __type(name: "Query") { ...T }`)} } fragment T on __Type { fields { name description args { name description } } }`,
  },
  {
    name: 'types by variables',
    query: `query(${many(330, (i) => `$v${i}: String!`)}) { ${many(330, (i) => `a${i}: __type(name: $v${i}) { ...T }`)} } fragment T on __Type { fields { name args { name type { ${TYPE_REF} } } } }`,
    variables: Object.fromEntries(Array.from({ length: 330 }, (_, i) => [`v${i}`, 'Query'])),
  },
  { name: '1,990 type names', query: `{ ${many(1_990, (i) => `a${i}: __typename`)} }` },
  {
    name: 'fields of the types of fields',
    query:
      '{ __schema { types { fields { type { name fields { name type { name enumValues { name } possibleTypes { name } } } } } } } }',
  },
  {
    name: 'nested ofType of types',
    query: `{ __schema { types { fields { type { ${'ofType { '.repeat(55)}name${' }'.repeat(55)} } } } } }`,
  },
  {
    name: 'possible types of interfaces of types',
    query: '{ __schema { types { possibleTypes { name interfaces { name possibleTypes { name } } } } } }',
  },
  {
    name: 'types under 850 aliases',
    query: `{ __schema { ${many(850, (i) => `a${i}: types { name description }`)} } }`,
  },
  {
    name: 'fields of every type under many aliases',
    query: `{ __schema { types { ${many(990, (i) => `a${i}: fields { name }`)} } } }`,
  },
  {
    name: 'introspection by fragments that double',
    query: `{ __type(name: "Query") { ...F0 } } ${doubling(40, '__Type', 'ofType', 'name')}`,
  },
  {
    name: 'types whose fields double',
    query: `{ __schema { types { ...F0 } } } ${doubling(20, '__Type', 'ofType', 'name')}`,
  },
  {
    name: 'introspection and a page',
    query: `{ __schema { ${FULL_SCHEMA} } catalogEntries(first: 500) { nodes { ${ENTRY} } } }`,
  },
];

/** Documents that are expensive to parse and to validate. Unknown names are close to known ones. */
export const TEXTS: readonly HostileDocument[] = [
  { name: 'one leaf 5,990 times', query: `{ ${'__typename '.repeat(5_990)} }` },
  { name: 'one page 850 times', query: `{ ${'catalogEntries { nodes { id } } '.repeat(850)} }` },
  {
    name: 'one page with nodes and edges 350 times',
    query: `{ ${'catalogEntries { nodes { id mode provider } edges { node { id mode } } } '.repeat(350)} }`,
  },
  { name: 'one alias for 540 entries', query: `{ ${many(540, (i) => `a: catalogEntry(id: "${i}") { id }`)} }` },
  {
    name: '58 pages of 100 equal leaves',
    query: `{ ${`catalogEntries { ${many(100, () => `totalCount`)} } `.repeat(58)} }`,
  },
  {
    name: '54 pages of 36 aliased leaves',
    query: `{ ${`catalogEntries { ${many(36, (i) => `a${i}: totalCount`)} } `.repeat(54)} }`,
  },
  {
    name: '540 spreads in one selection',
    query: `{ ${many(540, (i) => `...F${i}`)} } ${many(540, (i) => `fragment F${i} on Query { a: __typename }`)}`,
  },
  {
    name: '200 spreads in one selection',
    query: `{ ${many(200, (i) => `...F${i}`)} } ${many(200, (i) => `fragment F${i} on Query { ${many(7, (j) => `a${j}: __typename`)} }`)}`,
  },
  {
    name: 'a chain of fragments from many places',
    query: `{ ${many(370, (i) => `a${i}: catalogEntry(id: "") { ...F0 }`)} } ${chain(150, 'CatalogEntry', 'id')}`,
  },
  { name: 'a chain of 731 fragments', query: `{ ...F0 } ${chain(730, 'Query', '__typename')}` },
  {
    name: 'a cycle of 730 fragments after 150,000 empty lines',
    query: `${'\n'.repeat(150_000)}{ ...F0 } ${many(730, (i) => `fragment F${i} on Query { ...F${(i + 1) % 730} }`, '\n')}`,
  },
  {
    name: '52 fragments that all spread each other',
    query: `{ ...F0 } ${many(52, (i) => `fragment F${i} on Query { ${many(52, (j) => `...F${j}`)} }`, '\n')}`,
  },
  {
    name: 'fragments that double',
    query: `{ ...F0 } ${many(40, (i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`)} fragment F40 on Query { __typename }`,
  },
  {
    name: 'fields that double',
    query: `subscription { traceUpdates { trace { spans { nodes { spendRow { usage { inputTokens } } } } ...F0 } } } ${many(30, (i) => `fragment F${i} on Trace { a${i}: spans { nodes { spanId } } ...F${i + 1} ...F${i + 1} }`)} fragment F30 on Trace { name }`,
  },
  {
    name: '840 unused fragments',
    query: `{ __typename } ${many(840, (i) => `fragment F${i} on Query { __typename }`)}`,
  },
  { name: '5,990 unknown fields', query: `{ ${many(5_990, (i) => `catalogEntrie${i}`)} }` },
  {
    name: '840 unknown types',
    query: `{ __typename } ${many(840, (i) => `fragment F${i} on CatalogEntri${i} { id }`)}`,
  },
  {
    name: '1,990 unknown arguments',
    query: `{ catalogEntries(${many(1_990, (i) => `supportsVisio${i}: 1`)}) { totalCount } }`,
  },
  { name: '2,990 unknown directives', query: `{ __typename ${'@skipp '.repeat(2_990)} }` },
  {
    name: 'unknown names of 2,000 characters',
    query: `{ ${many(100, (i) => `${'catalogEntries'.repeat(150)}${i}`)} }`,
  },
  { name: 'one unknown name of 200,000 characters', query: `{ ${'catalogEntries'.repeat(15_000)} }` },
  { name: 'repeated directives', query: `{ __typename ${'@skip(if: true) '.repeat(850)} }` },
  { name: 'skip and include everywhere', query: `{ ${'__typename @skip(if: true) @include(if: true) '.repeat(399)} }` },
  { name: '1,190 operations', query: many(1_190, (i) => `query Q${i} { __typename }`), operationName: 'Q1189' },
  { name: '1,190 operations with the same name', query: 'query Q { __typename } '.repeat(1_190) },
  {
    name: '100 operations over 99 fragments',
    query: `${many(100, (i) => `query Q${i}($a: ID!) { ...F0 }`)} ${chain(98, 'Query', 'catalogEntry(id: $a) { id }')}`,
    operationName: 'Q1',
    variables: { a: 'x' },
  },
  {
    name: '199 spreads in one selection, of seven fields each',
    query: `{ ${many(199, (i) => `...F${i}`)} } ${many(199, (i) => `fragment F${i} on Query { ${many(7, (j) => `a${i}x${j}: __typename`)} }`)}`,
  },
  {
    name: '199 spreads in one selection, of three fields each',
    query: `{ ${many(199, (i) => `...F${i}`)} } ${many(199, (i) => `fragment F${i} on Query { ${many(3, (j) => `a${i}x${j}: __typename`)} }`)}`,
  },
  {
    name: '230 operations over 301 fragments',
    query: `${many(230, (i) => `query Q${i}($a: ID!) { ...F0 }`)} ${chain(300, 'Query', 'catalogEntry(id: $a) { id }')}`,
    operationName: 'Q1',
    variables: { a: 'x' },
  },
  { name: '2,000 unused variables', query: `query(${many(2_000, (i) => `$v${i}: Int`)}) { __typename }` },
  {
    name: '370 variables of wrong types',
    query: `query(${many(370, (i) => `$v${i}: ID`)}) { ${many(370, (i) => `a${i}: catalogEntries(first: $v${i}) { totalCount }`)} }`,
  },
  { name: 'inline fragments 60 deep', query: `{ ${'... { '.repeat(60)}__typename${' }'.repeat(60)} }` },
  { name: 'a hundred thousand brackets', query: `{${'a{'.repeat(100_000)}` },
  { name: 'a list literal of 5,900', query: `{ catalogEntries(filter: [${'1 '.repeat(5_900)}]) { totalCount } }` },
  {
    name: 'a list literal of objects for JSON',
    query: `mutation { ${chatOf(`messages: [], tools: [${'{ a: [1] } '.repeat(850)}]`)} }`,
  },
  {
    name: 'an object literal of 1,990 unknown fields',
    query: `{ catalogEntries(filter: { ${many(1_990, (i) => `minContextWindo${i}: 1`)} }) { totalCount } }`,
  },
  { name: 'lists 60 deep', query: `{ catalogEntries(filter: ${'['.repeat(60)}1${']'.repeat(60)}) { totalCount } }` },
  {
    name: '1,950 unknown fields in six object literals',
    query: `{ ${many(6, (i) => `a${i}: catalogEntries(filter: { ${many(325, (j) => `minContextWindo${j}: 1`)} }) { totalCount }`)} }`,
  },
  { name: 'a block string of 130,000 lines', query: `{ catalogEntry(id: """${'\n'.repeat(130_000)}""") { id } }` },
  { name: 'a block string of 250,000 lines', query: `{ catalogEntry(id: """${'\n'.repeat(250_000)}""") { id } }` },
  { name: 'a string of 140,000 escapes', query: `{ catalogEntry(id: "${'\\u0001'.repeat(140_000)}") { id } }` },
  { name: 'a string of a megabyte', query: `{ catalogEntry(id: "${'x'.repeat(1_000_000)}") { id } }` },
  { name: '120,000 comments', query: `${'#\n'.repeat(120_000)}{ __typename }` },
  { name: 'a megabyte of commas', query: `${','.repeat(1_000_000)}{ __typename }` },
  { name: 'an error after 250,000 lines', query: `${'\n'.repeat(250_000)}}` },
  {
    name: '200 errors after 150,000 lines',
    query: `${'\n'.repeat(150_000)}{ ${many(200, (i) => `unknown${i}`, '\n')} }`,
  },
  {
    name: 'a string of 400,000 characters of two bytes',
    query: `{ catalogEntry(id: "${'é'.repeat(400_000)}") { id } }`,
  },
  { name: 'an operation name of a megabyte', query: '{ __typename }', operationName: 'x'.repeat(1_000_000) },
];
