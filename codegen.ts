import { codegen } from '@graphql-codegen/core';
import * as typedDocumentNode from '@graphql-codegen/typed-document-node';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { buildSchema, lexicographicSortSchema, parse, printSchema } from 'graphql';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { schema } from './schema/index.ts';

// `npm run codegen`: writes the published schema of the graph, and types for the GraphQL documents of the tests and of
// the dashboard. Equal sources give equal output. It needs no server and no database.

const ROOT = import.meta.dirname;

const published = `${printSchema(lexicographicSortSchema(schema))}\n`;
writeFileSync(join(ROOT, 'schema.graphql'), published);

/** GraphQL documents, and the folder that receives their types. */
const CLIENTS = [
  { documents: 'test/graph/operations/**/*.graphql', output: 'test/graph/generated' },
  { documents: 'src/dashboard/operations/*.graphql', output: 'src/dashboard/generated' },
];

for (const { documents, output } of CLIENTS) {
  const filename = join(ROOT, output, 'graphql.ts');
  const types = await codegen({
    filename,
    schema: parse(published),
    // The published schema, so that enum values are the names that clients send.
    schemaAst: buildSchema(published),
    documents: globSync(documents, { cwd: ROOT })
      .toSorted()
      .map((file) => {
        const rawSDL = readFileSync(join(ROOT, file), 'utf8');
        return { location: file, document: parse(rawSDL), rawSDL };
      }),
    config: {
      documentMode: 'string',
      importExtension: '.ts',
      useTypeImports: true,
      enumType: 'string-literal',
      strictScalars: true,
      scalars: { BigInt: 'number | string', DateTime: 'string', Decimal: 'string', JSON: 'unknown' },
      inlineFragmentTypes: 'combine',
    },
    plugins: [{ 'typescript-operations': {} }, { 'typed-document-node': {} }],
    pluginMap: { 'typescript-operations': typescriptOperations, 'typed-document-node': typedDocumentNode },
  });
  mkdirSync(join(ROOT, output), { recursive: true });
  writeFileSync(filename, types);
}
