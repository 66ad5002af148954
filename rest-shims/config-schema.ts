import type { HttpAnswer, RouteRow } from './helpers/http/route.ts';

/** The JSON Schema of the configuration file, for editors. It contains no values of this process. */
export function configSchemaRoutes(schema: () => unknown): readonly RouteRow[] {
  const answer = (): HttpAnswer => ({
    body: { kind: 'bytes', bytes: Buffer.from(JSON.stringify(schema())), contentType: 'application/schema+json' },
  });
  return [
    {
      name: 'docs.configSchema',
      method: 'GET',
      paths: ['/config.schema.json'],
      surface: 'catalog',
      credential: 'none',
      statuses: [200],
      bodyLimit: 0,
      handle: answer,
    },
  ];
}
