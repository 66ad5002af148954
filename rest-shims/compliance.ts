import { checkCompliance } from '../resolvers/compliance.ts';
import type { ComplianceReport, Regulation } from '../src/domain/compliance/compliance.ts';
import { fields, listOf, requiredText, text, dictionary } from './helpers/http/body-fields.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT } from './helpers/http/row-facts.ts';

/** The call record to check. As in the reference, `request_id` is required, but no check uses it. */
const readCall = fields({
  request_id: requiredText,
  user_id: text,
  model: text,
  timestamp: text,
  guardrail_information: listOf(dictionary),
});

const renderReport = ({ regulation, checks }: ComplianceReport) => ({
  compliant: checks.every(({ passed }) => passed),
  regulation,
  checks: checks.map(({ name, ...check }) => ({ check_name: name, ...check })),
});

const row = (name: string, path: string, regulation: Regulation): RouteRow =>
  route({
    name,
    method: 'POST',
    paths: [path],
    ...MANAGEMENT,
    statuses: [200, 401, 422],
    bodyLimit: 1024 * 1024,
    bodySchema: readCall.schema,
    parse({ body }) {
      const { user_id: userId, guardrail_information: guardrails, model, timestamp } = readCall(body);
      return { regulation, call: { userId, model, timestamp, guardrails: guardrails ?? [] } };
    },
    run: checkCompliance,
    render: (report) => json(renderReport(report)),
  });

/** Checks of a call record against regulations. */
export const complianceRoutes: readonly RouteRow[] = [
  row('compliance.euAiAct', '/compliance/eu-ai-act', 'euAiAct'),
  row('compliance.gdpr', '/compliance/gdpr', 'gdpr'),
];
