import type { Deployment } from '../../domain/chat/provider.ts';
import type { DeploymentReader } from '../../domain/deployments/deployment-source.ts';
import { revealedParameters } from '../../domain/deployments/parameters.ts';
import { MADE_BY_TEAM } from '../../domain/deployments/team-models.ts';
import { InvalidInput, type Issue } from '../../domain/errors.ts';
import { resolveReferences } from './config-references.ts';
import { readAutoRouter } from '../../domain/auto-routers/read-auto-router.ts';
import { addressFault, modelEntry, toDeployment } from './deployments.ts';
import { isPrice } from './model-list.ts';

/** Reads deployments of requests and of the store, by the rules of the configuration file. */
export function createDeploymentReader(about: {
  readonly env: NodeJS.ProcessEnv;
  readonly dropParams: boolean;
}): DeploymentReader {
  return {
    read({ id, modelGroup, info, ...parameters }): Deployment {
      const issues: Issue[] = [];
      const note = (path: readonly (string | number)[], message: string): void => {
        issues.push({ path: ['body', ...path], rule: 'value_error', message: `Value error, ${message}` });
      };
      const params = resolveReferences(revealedParameters(parameters), ['litellm_params'], (path, name) => {
        const value = about.env[name];
        if (value === undefined || value === '') note(path, `the environment variable ${name} is not set`);
        return value ?? '';
      });
      const entry = { model_name: modelGroup, litellm_params: params, model_info: { ...info, id } };
      const parsed = modelEntry.safeParse(entry);
      if (!parsed.success) throw refused([...issues, ...parsed.error.issues.map(issueOf)]);
      for (const { path, message } of readAutoRouter(parsed.data.litellm_params, modelGroup)?.faults ?? [])
        note(['litellm_params', ...path], message);
      const draft = toDeployment(parsed.data, about);
      // A team administrator chose the address, so that it must not reach the private network of the operator.
      const hasAddressOfTeam = draft.apiBase !== null && info[MADE_BY_TEAM] === true;
      const deployment = { ...draft, id, ...(hasAddressOfTeam ? { addressByCaller: true } : {}) };
      for (const [name, price] of Object.entries(deployment.priceOverrides))
        if (!isPrice(price)) note(['litellm_params', name], 'this is not a price in USD');
      const fault =
        deployment.credentialName === undefined ? addressFault(deployment.provider, deployment.apiBase) : null;
      if (fault !== null) note(['litellm_params', 'model'], fault);
      if (issues.length > 0) throw refused(issues);
      return deployment;
    },
  };
}

const issueOf = ({ path, message }: { readonly path: readonly PropertyKey[]; readonly message: string }): Issue => ({
  path: ['body', ...path.map((part) => (typeof part === 'symbol' ? part.toString() : part))],
  rule: 'value_error',
  message: `Value error, ${message}`,
});

const refused = (issues: readonly Issue[]): InvalidInput => {
  const [first] = issues;
  const place = first === undefined ? '' : `${first.path.slice(1).join('.')}: ${first.message}`;
  return new InvalidInput(`The model cannot be called. ${place}`, issues);
};
