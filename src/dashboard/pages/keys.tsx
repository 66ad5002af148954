import { useState } from 'preact/hooks';
import { dollars, localTime } from '../format.ts';
import {
  BlockKeyDocument,
  DeleteKeyDocument,
  GenerateKeyDocument,
  type GenerateKeyInput,
  type KeyLineFragment,
  KeysDocument,
  UnblockKeyDocument,
} from '../generated/graphql.ts';
import { request } from '../graph-client.ts';
import { messageOf, usePages } from '../hooks.ts';
import { fieldText } from '../parts/form.ts';
import { Badge, ListState, MoreButton } from '../parts/status.tsx';

/** Virtual keys: create, block, unblock and delete them. */
export function KeysPage() {
  const [alias, setAlias] = useState('');
  const { nodes, error, isLoading, more, reload } = usePages(
    KeysDocument,
    { filter: alias === '' ? {} : { alias } },
    ({ virtualKeys }) => virtualKeys,
  );
  const [failure, setFailure] = useState<string | null>(null);
  /** Waits for a change of a key. Shows its message, then reloads the list. */
  const runChange = (work: Promise<string | null>): void => {
    work.then(
      (message) => {
        setFailure(message);
        reload();
      },
      (cause: unknown) => setFailure(messageOf(cause)),
    );
  };
  return (
    <>
      <h1>Keys</h1>
      <NewKey onCreated={reload} />
      <form
        class="tools"
        onSubmit={(event) => {
          event.preventDefault();
          setAlias(fieldText(event.currentTarget, 'alias'));
        }}
      >
        <label>
          Alias <input name="alias" type="search" />
        </label>
        <button type="submit">Search</button>
      </form>
      {failure !== null && (
        <p class="problem" role="alert">
          {failure}
        </p>
      )}
      <ListState error={error} isLoading={isLoading} isEmpty={nodes.length === 0} emptyText="No key." />
      {nodes.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Key</th>
              <th scope="col">Team</th>
              <th scope="col">Models</th>
              <th scope="col">State</th>
              <th scope="col">Expires</th>
              <th scope="col" class="number">
                Spend / budget
              </th>
              <th scope="col">Actions</th>
            </tr>
          </thead>
          <tbody>
            {nodes.map((key) => (
              <KeyRow key={key.id} line={key} runChange={runChange} />
            ))}
          </tbody>
        </table>
      )}
      <MoreButton loadMore={more} isLoading={isLoading} />
    </>
  );
}

/** The message of a result that is an error; null for a success. */
const problemIn = (result: { readonly kind: string; readonly message?: string }): string | null =>
  result.message ?? null;

function KeyRow({
  line,
  runChange,
}: {
  readonly line: KeyLineFragment;
  readonly runChange: (work: Promise<string | null>) => void;
}) {
  const { hash, name, alias, team, models, blocked, expiresAt, spendUsd, maxBudgetUsd, budgetDuration } = line;
  const title = alias ?? name;
  const toggleBlocked = async (): Promise<string | null> =>
    blocked
      ? problemIn((await request(UnblockKeyDocument, { key: hash })).unblockKey)
      : problemIn((await request(BlockKeyDocument, { key: hash })).blockKey);
  const remove = async (): Promise<string | null> =>
    problemIn((await request(DeleteKeyDocument, { key: hash })).deleteKeys);
  return (
    <tr>
      <td>
        {title}
        {alias !== null && <small> {name}</small>}
      </td>
      <td>{team === null ? '–' : (team.alias ?? team.teamId)}</td>
      <td>{models.length === 0 ? 'all' : models.join(', ')}</td>
      <td>
        <Badge tone={blocked ? 'bad' : 'good'}>{blocked ? 'blocked' : 'active'}</Badge>
      </td>
      <td>{expiresAt === null ? 'never' : localTime(expiresAt)}</td>
      <td class="number">
        {dollars(spendUsd)} / {maxBudgetUsd === null ? 'no limit' : dollars(maxBudgetUsd)}
        {budgetDuration !== null && ` per ${budgetDuration}`}
      </td>
      <td>
        <button type="button" onClick={() => runChange(toggleBlocked())}>
          {blocked ? 'Unblock' : 'Block'} <span class="hidden">{title}</span>
        </button>{' '}
        <button
          type="button"
          onClick={() => {
            if (confirm(`Delete the key ${title}? Clients that use it are refused immediately.`)) runChange(remove());
          }}
        >
          Delete <span class="hidden">{title}</span>
        </button>
      </td>
    </tr>
  );
}

/** The input of a new key from its form. Empty fields stay unset. */
function readKeyForm(form: HTMLFormElement): GenerateKeyInput {
  const alias = fieldText(form, 'alias');
  const models = fieldText(form, 'models');
  const maxBudgetUsd = fieldText(form, 'budget');
  const duration = fieldText(form, 'duration');
  return {
    ...(alias === '' ? {} : { alias }),
    ...(models === '' ? {} : { models: models.split(/[\s,]+/).filter((model) => model !== '') }),
    ...(maxBudgetUsd === '' ? {} : { maxBudgetUsd }),
    ...(duration === '' ? {} : { duration }),
  };
}

function NewKey({ onCreated }: { readonly onCreated: () => void }) {
  const [key, setKey] = useState<string | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const create = async (form: HTMLFormElement): Promise<void> => {
    setIsBusy(true);
    setFailure(null);
    try {
      const { generateKey } = await request(GenerateKeyDocument, { input: readKeyForm(form) });
      if (generateKey.kind === 'GeneratedKey') {
        setKey(generateKey.key);
        form.reset();
        onCreated();
      } else setFailure(generateKey.message);
    } catch (error) {
      setFailure(messageOf(error));
    }
    setIsBusy(false);
  };
  return (
    <details class="panel">
      <summary>New key</summary>
      <form
        class="tools"
        onSubmit={(event) => {
          event.preventDefault();
          void create(event.currentTarget);
        }}
      >
        <label>
          Alias <input name="alias" />
        </label>
        <label>
          Models <input name="models" placeholder="all; or names with commas" />
        </label>
        <label>
          Budget in USD <input name="budget" inputMode="decimal" />
        </label>
        <label>
          Expires after <input name="duration" placeholder="30d, 12h; never when empty" />
        </label>
        <button type="submit" disabled={isBusy}>
          Create key
        </button>
      </form>
      {failure !== null && (
        <p class="problem" role="alert">
          {failure}
        </p>
      )}
      {key !== null && (
        <p role="status">
          The key is shown once. Copy it now: <code>{key}</code>
        </p>
      )}
    </details>
  );
}
