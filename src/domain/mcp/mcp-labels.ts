import { type CallLabels, callLabels } from '../calls/call-labels.ts';

/**
 * Call labels of an MCP request: its session, and the customer and the tags that its headers name. Undefined without
 * any. Throws InvalidInput for too many or too long tags.
 */
export function mcpLabels(
  headers: Readonly<Record<string, string>>,
  session: string | null = null,
): CallLabels | undefined {
  const endUser = headers['x-litellm-customer-id'] ?? headers['x-litellm-end-user-id'] ?? '';
  const tags = (headers['x-litellm-tags'] ?? '').split(',').map((tag) => tag.trim());
  return callLabels({
    session,
    endUser: endUser === '' ? null : endUser,
    tags: tags.filter((tag) => tag !== ''),
    metadata: {},
  });
}
