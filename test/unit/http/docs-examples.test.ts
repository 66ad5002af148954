import { expect, it } from 'vitest';
import { DESCRIPTIONS } from '../../../rest-shims/helpers/openapi/descriptions.ts';
import { curlExample } from '../../../rest-shims/helpers/openapi/examples.ts';
import { restRoutes } from '../../../src/http/routes.ts';

it('every route has a description, and every description has a route', () => {
  expect(Object.keys(DESCRIPTIONS).toSorted()).toEqual(
    restRoutes()
      .map(({ name }) => name)
      .toSorted(),
  );
});

it.each([
  ['traces.get', 'curl "http://a/v1/traces/$TRACE_ID" -H "Authorization: Bearer $KEY"'],
  ['files.delete', 'curl -X DELETE "http://a/v1/files/$ID" -H "Authorization: Bearer $KEY"'],
  ['catalog.get', 'curl "http://a/model_catalog/$MODEL"'],
])('the example of %s is the command %s', (routeName, example) => {
  const row = restRoutes().find(({ name }) => name === routeName);
  expect(row && curlExample(row, 'http://a')).toBe(example);
});
