import { type CallLabels, callLabels } from '../calls/call-labels.ts';

/** Call labels of an MCP request: the customer that its headers name. Undefined when they name none. */
export const mcpLabels = (headers: Readonly<Record<string, string>>): CallLabels | undefined => {
  const endUser = headers['x-litellm-customer-id'] ?? headers['x-litellm-end-user-id'] ?? '';
  return endUser === '' ? undefined : callLabels({ session: null, endUser, tags: [], metadata: {} });
};
