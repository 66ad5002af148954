import { listPublicEndpoints } from '../resolvers/public-endpoints.ts';
import { getHubLinks, listPublicModels, publishModels, updateHubLinks } from '../resolvers/public-models.ts';
import { PROVIDER_NAMES } from '../src/domain/chat/provider.ts';
import type { JsonObject } from '../src/domain/json-object.ts';
import { VERSION } from '../src/domain/version.ts';
import { dictionary, fields, required, requiredTexts } from './helpers/http/body-fields.ts';
import { MANAGEMENT_CHANGE } from './helpers/http/row-facts.ts';
import { renderLinkedPage } from './helpers/http/linked-pages.ts';
import { integer, query } from './helpers/http/query.ts';
import { type HttpAnswer, json, route, type RouteRow } from './helpers/http/route.ts';
import { groupObject } from './helpers/answers/model-groups.ts';

const OPEN = {
  method: 'GET',
  surface: 'catalog',
  credential: 'none',
  statuses: [200],
  bodyLimit: 0,
} as const;

/** A row with a constant answer. */
const constantRow = (name: string, paths: RouteRow['paths'], answer: HttpAnswer): RouteRow => ({
  ...OPEN,
  name,
  paths,
  handle: () => answer,
});

const textAnswer = (text: string): HttpAnswer => ({
  body: { kind: 'bytes', bytes: Buffer.from(text), contentType: 'text/plain; charset=utf-8' },
});

/** List of the documented paths with their methods. */
export const routeListRoutes = (documented: readonly RouteRow[]): readonly RouteRow[] => [
  constantRow(
    'service.routes',
    ['/routes'],
    json({
      routes: documented.flatMap(({ name, method, paths }) =>
        paths.map((path) => ({ path, methods: [method], name, endpoint: name })),
      ),
    }),
  ),
];

const readPublished = fields<{ model_groups: readonly string[] }>({ model_groups: requiredTexts });
const readLinks = fields<{ useful_links: JsonObject | null }>({ useful_links: required(dictionary) });

const readPage = query({
  page: integer({ min: 1, max: 1_000_000, defaultValue: 1 }),
  page_size: integer({ min: 1, max: 100, defaultValue: 50 }),
});

const HUB = '/public/v1/model_hub';

/** Public facts about the gateway. */
export const serviceInfoRoutes: readonly RouteRow[] = [
  constantRow('service.test', ['/test'], json({ route: '/test' })),
  constantRow('service.robots', ['/robots.txt'], textAnswer('User-agent: *\nDisallow: /\n')),
  constantRow('service.providers', ['/public/providers'], json(PROVIDER_NAMES.toSorted())),
  // Descriptions of routers are not built. Profiles for Fuse v2 are in `auto-routers.ts`.
  constantRow('service.routerPresets', ['/public/autorouter_presets'], json([])),
  // Telemetry of Claude Code. It is not kept: answers other than 200 make the client send it again.
  {
    ...constantRow('service.clientEvents', ['/api/event_logging/batch'], json({ status: 'ok' })),
    method: 'POST',
    bodyLimit: 1024 * 1024,
  },
  // Releases are not looked up: no other server is contacted.
  constantRow('service.latestRelease', ['/get/latest_release_info'], json(null)),
  route({
    ...OPEN,
    name: 'service.modelHubInfo',
    paths: ['/public/model_hub/info'],
    parse: () => undefined,
    run: getHubLinks,
    render: (links) =>
      json({
        docs_title: 'Lensgate API',
        custom_docs_description: null,
        litellm_version: VERSION,
        useful_links: links,
      }),
  }),
  route({
    ...MANAGEMENT_CHANGE,
    failureForm: { body: 'detail' },
    name: 'service.publishModels',
    bodySchema: readPublished.schema,
    paths: ['/model_group/make_public'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: ({ body }) => ({ models: readPublished(body).model_groups }),
    run: publishModels,
    render: ({ models, by }) =>
      json({ message: 'Successfully updated public model groups', public_model_groups: models, updated_by: by }),
  }),
  route({
    ...MANAGEMENT_CHANGE,
    failureForm: { body: 'detail' },
    name: 'service.updateHubLinks',
    bodySchema: readLinks.schema,
    paths: ['/model_hub/update_useful_links'],
    statuses: [200, 400, 401, 403, 422],
    parse: ({ body }) => ({ links: readLinks(body).useful_links ?? {} }),
    run: updateHubLinks,
    render: (links) => json({ message: 'Successfully updated useful links', useful_links: links }),
  }),
  route({
    ...OPEN,
    name: 'service.endpoints',
    paths: ['/public/endpoints'],
    parse: () => undefined,
    run: listPublicEndpoints,
    render: (endpoints) =>
      json({
        endpoints: endpoints.map(({ key, label, path, providers }) => ({
          key,
          label,
          endpoint: path,
          providers: providers.map((provider) => ({ slug: provider.name, display_name: provider.label })),
        })),
      }),
  }),
  route({
    ...OPEN,
    credential: 'offered',
    name: 'service.publicModels',
    paths: ['/public/model_hub'],
    statuses: [200, 401],
    parse: () => ({ page: 1, size: Infinity }),
    run: listPublicModels,
    render: ({ models }) => json(models.map(([name, members]) => groupObject(name, members))),
  }),
  route({
    ...OPEN,
    credential: 'offered',
    name: 'service.publicModelPage',
    querySchema: readPage.schema,
    paths: [HUB],
    statuses: [200, 401, 422],
    parse({ search }) {
      const { page, page_size: size } = readPage(search);
      return { page: Number(page), size: Number(size) };
    },
    run: listPublicModels,
    render: ({ models, total }, { search }) => {
      const rows = models.map(([name, members]) => groupObject(name, members));
      return json(renderLinkedPage(HUB, search, rows, total));
    },
  }),
];
