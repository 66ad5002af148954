import type { PassThroughEndpoint } from './endpoint.ts';
import { shownHeaders } from './headers.ts';

/** An endpoint in the format of the configuration file. Values of headers that may be credentials are masked. */
export const endpointSetting = (endpoint: PassThroughEndpoint) => ({
  id: endpoint.id,
  path: endpoint.path,
  target: endpoint.target,
  headers: shownHeaders(endpoint.headers),
  default_query_params: endpoint.defaultQuery,
  include_subpath: endpoint.includeSubpath,
  cost_per_request: endpoint.costPerRequest,
  timeout: endpoint.timeoutSeconds,
  auth: endpoint.auth,
  guardrails: endpoint.guardrails,
  methods: endpoint.methods,
  ...(endpoint.forwardHeaders ? { forward_headers: true } : {}),
});
