import {
  createPolicyAttachment,
  deletePolicyAttachment,
  estimateAttachmentImpact,
  getPolicyAttachment,
  listPolicyAttachments,
} from '../resolvers/policy-attachments.ts';
import { renderAttachment, renderImpact } from './helpers/answers/policies.ts';
import { flag, members, parseObject, requiredText, text, texts, wholeNumber } from './helpers/http/body-fields.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT_CHANGE, MANAGEMENT_READ } from './helpers/http/row-facts.ts';

const readAttachment = members({
  policy_name: requiredText,
  scope: text,
  teams: texts,
  keys: texts,
  models: texts,
  tags: texts,
  priority: wholeNumber,
  default: flag,
});

function parseNew({ body }: HttpRequest) {
  const { policy_name: policyName, default: isDefault, ...rules } = readAttachment(parseObject(body));
  return { ...rules, policyName, isDefault: isDefault === true };
}

const idIn = ({ params }: HttpRequest): { readonly id: string } => ({ id: params['id'] ?? '' });
const READ = { ...MANAGEMENT_READ, failureForm: { body: 'text' } } as const satisfies Partial<RouteRow>;

/** Attachments, which apply policies to calls. */
export const policyAttachmentRoutes: readonly RouteRow[] = [
  route({
    ...READ,
    name: 'policyAttachments.list',
    paths: ['/policies/attachments/list'],
    statuses: [200, 401],
    parse: () => undefined,
    run: listPolicyAttachments,
    render: (all) => json({ attachments: all.map(renderAttachment), total_count: all.length }),
  }),
  route({
    ...MANAGEMENT_CHANGE,
    failureForm: { body: 'text' },
    name: 'policyAttachments.create',
    bodySchema: readAttachment.schema,
    paths: ['/policies/attachments'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: parseNew,
    run: createPolicyAttachment,
    render: (one) => json(renderAttachment(one)),
  }),
  route({
    ...MANAGEMENT_CHANGE,
    failureForm: { body: 'text' },
    name: 'policyAttachments.estimate',
    bodySchema: readAttachment.schema,
    paths: ['/policies/attachments/estimate-impact'],
    statuses: [200, 400, 401, 422],
    parse: parseNew,
    run: estimateAttachmentImpact,
    render: (impact) => json(renderImpact(impact)),
  }),
  route({
    ...READ,
    name: 'policyAttachments.get',
    paths: ['/policies/attachments/:id'],
    statuses: [200, 401, 404],
    parse: idIn,
    run: getPolicyAttachment,
    render: (one) => json(renderAttachment(one)),
  }),
  route({
    ...READ,
    method: 'DELETE',
    name: 'policyAttachments.delete',
    paths: ['/policies/attachments/:id'],
    statuses: [200, 400, 401, 403, 404],
    parse: idIn,
    run: deletePolicyAttachment,
    render: ({ id }) => json({ message: `Attachment ${id} deleted successfully` }),
  }),
];
