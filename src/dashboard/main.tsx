import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ViewerDocument, type ViewerQuery } from './generated/graphql.ts';
import { hasCredential, pasteKey, request, signOut } from './graph-client.ts';
import { messageOf, SIGNED_OUT } from './hooks.ts';
import { DecisionsPage } from './pages/decisions.tsx';
import { KeysPage } from './pages/keys.tsx';
import { LensesPage } from './pages/lenses.tsx';
import { ModelsPage } from './pages/models.tsx';
import { OverviewPage } from './pages/overview.tsx';
import { TeamsPage } from './pages/teams.tsx';
import { TracePage } from './pages/trace.tsx';
import { TracesPage } from './pages/traces.tsx';
import { fieldText } from './parts/form.ts';

/** Pages in the order of the navigation, by the first segment of the fragment of the address. */
const PAGES = [
  ['', 'Overview'],
  ['traces', 'Traces'],
  ['models', 'Models'],
  ['keys', 'Keys'],
  ['teams', 'Teams'],
  ['lenses', 'Lenses'],
  ['decisions', 'Decisions'],
] as const;

type Viewer = NonNullable<ViewerQuery['viewer']>;

const segmentsOfAddress = (): readonly string[] => location.hash.replace(/^#\/?/, '').split('/').map(decoded);

/** A decoded segment; unchanged if its percent-encoding is invalid. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function useAddress(): readonly string[] {
  const [segments, setSegments] = useState(segmentsOfAddress);
  useEffect(() => {
    const changed = (): void => setSegments(segmentsOfAddress());
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return segments;
}

function Page({ segments: [name = '', first, second] }: { readonly segments: readonly string[] }) {
  switch (name) {
    case '':
      return <OverviewPage />;
    case 'traces':
      return first === undefined ? <TracesPage /> : <TracePage key={first} traceId={first} traceRef={second ?? null} />;
    case 'models':
      return <ModelsPage />;
    case 'keys':
      return <KeysPage />;
    case 'teams':
      return <TeamsPage />;
    case 'lenses':
      return <LensesPage />;
    case 'decisions':
      return <DecisionsPage />;
    default:
      return <p>No such page.</p>;
  }
}

/** The sign-in: a form of the server, which starts a session, or a key for this tab. */
function SignIn({ reason, signedIn }: { readonly reason: string | null; readonly signedIn: () => void }) {
  return (
    <main class="sign-in">
      <h1>Lensgate</h1>
      {reason !== null && (
        <p class="problem" role="alert">
          {reason}
        </p>
      )}
      <form action="/login" method="post">
        <label>
          User name, id or email <input name="username" autocomplete="username" required />
        </label>
        <label>
          Password or key <input name="password" type="password" autocomplete="current-password" required />
        </label>
        <button type="submit">Sign in</button>
      </form>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          pasteKey(fieldText(event.currentTarget, 'key'));
          signedIn();
        }}
      >
        <label>
          Or a key, for this tab only{' '}
          <input name="key" type="password" autocomplete="off" required placeholder="sk-..." />
        </label>
        <button type="submit">Use key</button>
      </form>
    </main>
  );
}

function Header({ viewer, current }: { readonly viewer: Viewer; readonly current: string }) {
  return (
    <header>
      <strong>Lensgate</strong>
      <nav aria-label="Pages">
        {PAGES.map(([name, title]) => (
          <a key={name} href={`#/${name}`} aria-current={name === current ? 'page' : undefined}>
            {title}
          </a>
        ))}
        <a href="/graphql">GraphiQL</a>
        <a href="/docs">HTTP paths</a>
      </nav>
      <span>
        {viewer.userId ?? viewer.team?.alias ?? 'key'} <small>{viewer.role.toLowerCase()}</small>
      </span>
      <button type="button" onClick={() => void signOut().then(() => location.reload())}>
        Sign out
      </button>
    </header>
  );
}

function Dashboard() {
  const segments = useAddress();
  const [viewer, setViewer] = useState<Viewer | null>(null);
  const [reason, setReason] = useState<string | null>(null);
  const [loading, setLoading] = useState(true);
  const identify = async (): Promise<void> => {
    setLoading(true);
    try {
      const found = hasCredential() ? (await request(ViewerDocument, {})).viewer : null;
      setViewer(found);
      setReason(null);
    } catch (error) {
      setReason(messageOf(error));
    }
    setLoading(false);
  };
  useEffect(() => {
    void identify();
    const signedOut = (): void => {
      setViewer(null);
      setReason('The credential is not accepted, or its session has ended.');
    };
    addEventListener(SIGNED_OUT, signedOut);
    return () => removeEventListener(SIGNED_OUT, signedOut);
  }, []);
  if (viewer === null)
    return loading ? <p role="status">Loading…</p> : <SignIn reason={reason} signedIn={() => void identify()} />;
  return (
    <>
      <Header viewer={viewer} current={segments[0] ?? ''} />
      <main>
        <Page segments={segments} />
      </main>
    </>
  );
}

const root = document.getElementById('dashboard');
if (root !== null) render(<Dashboard />, root);
