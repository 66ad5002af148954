import { createTag, deleteTag, getTags, listTags, type TagChange, type TagView, updateTag } from '../resolvers/tags.ts';
import type { Tag } from '../src/domain/tags/tag.ts';
import {
  fields,
  optional,
  members,
  parseObject,
  requiredText,
  requiredTexts,
  text,
  texts,
} from './helpers/http/body-fields.ts';
import { withIgnoredHeader } from './helpers/http/ignored-members.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { renderBudget } from './helpers/answers/limits.ts';
import { BUDGET_MEMBERS, budgetFrom, withoutUndefined } from './helpers/fields/limits.ts';
import { merged } from './helpers/http/schema.ts';
import { MANAGEMENT_CHANGE } from './helpers/http/row-facts.ts';

const readMembers = members({
  name: requiredText,
  description: optional(text),
  models: optional(texts),
  budget_id: text,
});
const readNames = fields({ names: requiredTexts });
const readName = fields({ name: requiredText });

function parseChange(body: Uint8Array): TagChange {
  const input = parseObject(body);
  const { name, description, models, budget_id: budgetId } = readMembers(input);
  return { name, patch: withoutUndefined({ description, models }), budget: { budgetId, limits: budgetFrom(input) } };
}

const renderTag = (tag: Tag) => ({
  name: tag.id,
  description: tag.description,
  models: tag.models,
  model_info: {},
  created_at: tag.createdAt.toISOString(),
  updated_at: tag.updatedAt.toISOString(),
  created_by: tag.createdBy,
});

const renderView = ({ tag, budget }: TagView) => ({
  ...renderTag(tag),
  ...(budget === null ? {} : { litellm_budget_table: renderBudget(budget) }),
});

const ROW = {
  ...MANAGEMENT_CHANGE,
  statuses: [200, 401, 403, 404, 422],
  failureForm: { body: 'text' },
} as const;
const READING = { ...ROW, method: 'GET', statuses: [200, 401], bodyLimit: 0 } as const;

/** Tags of calls, with their budgets. */
export const tagRoutes: readonly RouteRow[] = withIgnoredHeader([
  route({
    ...ROW,
    name: 'tags.create',
    bodySchema: merged(readMembers, BUDGET_MEMBERS),
    paths: ['/tag/new'],
    statuses: [200, 400, 401, 403, 422],
    parse: ({ body }) => parseChange(body),
    run: createTag,
    render: (tag) => json({ message: `Tag ${tag.id} created successfully`, tag: renderTag(tag) }),
  }),
  route({
    ...ROW,
    name: 'tags.info',
    bodySchema: readNames.schema,
    paths: ['/tag/info'],
    statuses: [200, 401, 404, 422],
    parse: ({ body }) => readNames(body).names,
    run: getTags,
    render: (views) => json(Object.fromEntries(views.map((view) => [view.tag.id, renderView(view)]))),
  }),
  route({
    ...READING,
    name: 'tags.list',
    paths: ['/tag/list'],
    parse: () => undefined,
    run: listTags,
    render: (views) => json(views.map(renderView)),
  }),
  route({
    ...ROW,
    name: 'tags.update',
    bodySchema: merged(readMembers, BUDGET_MEMBERS),
    paths: ['/tag/update'],
    parse: ({ body }) => parseChange(body),
    run: updateTag,
    render: (tag) => json({ message: `Tag ${tag.id} updated successfully`, tag: renderTag(tag) }),
  }),
  route({
    ...ROW,
    name: 'tags.delete',
    bodySchema: readName.schema,
    paths: ['/tag/delete'],
    parse: ({ body }) => readName(body),
    run: deleteTag,
    render: (tag) => json({ message: `Tag ${tag.id} deleted successfully` }),
  }),
]);
