import { getModel, listModels } from '../resolvers/models.ts';
import { json, route, type RouteRow } from './route.ts';

/** The reference gives every model these; clients have come to expect them. */
const modelObject = (id: string): object => ({ id, object: 'model', created: 1677610602, owned_by: 'openai' });

/** The models that can be asked. */
export const modelRoutes: readonly RouteRow[] = [
  route({
    name: 'models.list',
    method: 'GET',
    paths: ['/v1/models', '/models', '/ide/models', '/cursor/models'],
    surface: 'proxy',
    category: null,
    credential: 'required',
    answers: [200, 401],
    bodyLimit: 0,
    parse: () => undefined,
    run: listModels,
    render: (names) => json({ object: 'list', data: names.map(modelObject) }),
  }),
  route({
    name: 'models.get',
    method: 'GET',
    paths: ['/v1/models/*', '/models/*'],
    surface: 'proxy',
    category: null,
    credential: 'required',
    answers: [200, 401, 404],
    bodyLimit: 0,
    parse: ({ params }) => ({ id: params['*'] ?? '' }),
    run: getModel,
    render: (id) => json(modelObject(id)),
  }),
];
