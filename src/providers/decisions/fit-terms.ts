import type { ModelRequest } from '../../domain/chat/chat.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import type { FitTerms } from '../../domain/decisions/fit.ts';

/** Facts that the checks of a decision need. */
export const fitTermsOf = ({ provider, upstreamModel, dropParams }: Deployment, { body }: ModelRequest): FitTerms => ({
  provider,
  model: `${provider}/${upstreamModel}`,
  drop: dropParams || body['drop_params'] === true,
});
