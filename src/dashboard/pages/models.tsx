import { useState } from 'preact/hooks';
import { countText, dollarsPerMillion, durationText } from '../format.ts';
import { CallableModelsDocument, type CallableModelsQuery, CatalogEntriesDocument } from '../generated/graphql.ts';
import { useQuery, usePages } from '../hooks.ts';
import { fieldText } from '../parts/form.ts';
import { Badge, ListState, MoreButton } from '../parts/status.tsx';

type CallableModel = CallableModelsQuery['callableModels'][number];

/** Models that the caller may call, with health and prices, and a search in the catalog. */
export function ModelsPage() {
  const { data, error, isLoading } = useQuery(CallableModelsDocument, {});
  const models = data?.callableModels ?? [];
  return (
    <>
      <h1>Models</h1>
      <ListState
        error={error}
        isLoading={isLoading}
        isEmpty={models.length === 0}
        emptyText="No model that you may call."
      />
      {models.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col">Deployments</th>
              <th scope="col">Health</th>
              <th scope="col" class="number">
                Calls / failures
              </th>
              <th scope="col" class="number">
                Latency
              </th>
              <PriceHeads />
            </tr>
          </thead>
          <tbody>
            {models.map((model) => (
              <ModelRow key={model.id} model={model} />
            ))}
          </tbody>
        </table>
      )}
      <Catalog />
    </>
  );
}

function PriceHeads() {
  return (
    <>
      <th scope="col" class="number">
        Context
      </th>
      <th scope="col" class="number">
        Input / 1M
      </th>
      <th scope="col" class="number">
        Output / 1M
      </th>
    </>
  );
}

interface Priced {
  readonly maxInputTokens: number | null;
  readonly inputCostPerToken: string | null;
  readonly outputCostPerToken: string | null;
}

function PriceCells({ entry }: { readonly entry: Priced | null }) {
  const context = entry?.maxInputTokens ?? null;
  return (
    <>
      <td class="number">{context === null ? '–' : countText(context)}</td>
      <td class="number">{dollarsPerMillion(entry?.inputCostPerToken ?? null)}</td>
      <td class="number">{dollarsPerMillion(entry?.outputCostPerToken ?? null)}</td>
    </>
  );
}

function toneOf(state: CallableModel['health']['state']): 'good' | 'bad' | 'plain' {
  if (state === 'UNKNOWN') return 'plain';
  return state === 'HEALTHY' ? 'good' : 'bad';
}

function ModelRow({ model: { name, deployments, health, catalogEntry } }: { readonly model: CallableModel }) {
  const problems = deployments.flatMap(({ fault, warning }) => [fault, warning]).filter((text) => text !== null);
  return (
    <tr>
      <td>{name}</td>
      <td>
        {deployments.map(({ provider, upstreamModel }) => `${provider}/${upstreamModel}`).join(', ')}
        {problems.length > 0 && <small class="problem"> {problems.join(' ')}</small>}
      </td>
      <td>
        <Badge tone={toneOf(health.state)}>{health.state.toLowerCase()}</Badge>
      </td>
      <td class="number">
        {countText(health.calls)} / {countText(health.failures)}
      </td>
      <td class="number">{health.latencyMs === null ? '–' : durationText(health.latencyMs)}</td>
      <PriceCells entry={catalogEntry} />
    </tr>
  );
}

function Catalog() {
  const [model, setModel] = useState('');
  const { nodes, error, isLoading, more } = usePages(
    CatalogEntriesDocument,
    { filter: model === '' ? {} : { model } },
    ({ catalogEntries }) => catalogEntries,
  );
  return (
    <section>
      <h2>Catalog</h2>
      <form
        class="tools"
        onSubmit={(event) => {
          event.preventDefault();
          setModel(fieldText(event.currentTarget, 'model'));
        }}
      >
        <label>
          Model <input name="model" type="search" />
        </label>
        <button type="submit">Search</button>
      </form>
      <ListState
        error={error}
        isLoading={isLoading}
        isEmpty={nodes.length === 0}
        emptyText="No entry with this name."
      />
      {nodes.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Entry</th>
              <th scope="col">Provider</th>
              <th scope="col">Mode</th>
              <PriceHeads />
              <th scope="col">Deprecated from</th>
            </tr>
          </thead>
          <tbody>
            {nodes.map((entry) => (
              <tr key={entry.id}>
                <td>{entry.entryId}</td>
                <td>{entry.provider}</td>
                <td>{entry.mode}</td>
                <PriceCells entry={entry} />
                <td>{entry.deprecationDate ?? '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <MoreButton loadMore={more} isLoading={isLoading} />
    </section>
  );
}
