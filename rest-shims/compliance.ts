import { checkCompliance } from '../resolvers/compliance.ts';
import type { ComplianceReport, Regulation } from '../src/domain/compliance/compliance.ts';
import { type FieldReader, fields, listOf, requiredText, text } from './http/body-fields.ts';
import { json, route, type RouteRow } from './http/route.ts';

/** A guardrail of a call, as `guardrail_information` of a spend row has it. */
const guardrail: FieldReader<Readonly<Record<string, unknown>>> = (sent) =>
  typeof sent === 'object' && sent !== null && !Array.isArray(sent)
    ? { value: { ...sent } }
    : { rule: 'dict_type', message: 'Input should be a valid dictionary' };

const readCall = fields({
  request_id: requiredText,
  user_id: text,
  model: text,
  timestamp: text,
  guardrail_information: listOf(guardrail),
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
    surface: 'management',
    category: null,
    credential: 'required',
    answers: [200, 401, 422],
    bodyLimit: 1024 * 1024,
    request: readCall.schema,
    parse({ body }) {
      const { user_id: userId, guardrail_information: guardrails, model, timestamp } = readCall(body);
      return { regulation, call: { userId, model, timestamp, guardrails: guardrails ?? [] } };
    },
    run: checkCompliance,
    render: (report) => json(renderReport(report)),
  });

/** What the record of a call shows about regulations. */
export const complianceRoutes: readonly RouteRow[] = [
  row('compliance.euAiAct', '/compliance/eu-ai-act', 'euAiAct'),
  row('compliance.gdpr', '/compliance/gdpr', 'gdpr'),
];
