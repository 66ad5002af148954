import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ViewerDocument, type ViewerQuery } from './generated/graphql.ts';
import { hasCredential, request, signOut, storePastedKey } from './graph-client.ts';
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

/** Pages in the order of the navigation: the first segment of the address fragment, and the title. */
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

const segmentsOfAddress = (): readonly string[] => location.hash.replace(/^#\/?/, '').split('/').map(decodeSegment);

/** Decodes percent-encoding. Returns a segment with an invalid encoding unchanged. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Segments of the address fragment, after `#/`. */
function useAddress(): readonly string[] {
  const [segments, setSegments] = useState(segmentsOfAddress);
  useEffect(() => {
    const changed = (): void => setSegments(segmentsOfAddress());
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return segments;
}

/** A segment of the address; null when it is absent or empty. */
const segmentOrNull = (segment: string | undefined): string | null =>
  segment === undefined || segment === '' ? null : segment;

function Page({ segments }: { readonly segments: readonly string[] }) {
  const [name = '', first, second, third] = segments;
  switch (name) {
    case '':
      return <OverviewPage />;
    case 'traces':
      // The key has all segments, because spans of another owner's trace with the same id are other spans.
      return first === undefined ? (
        <TracesPage />
      ) : (
        <TracePage
          key={segments.join('/')}
          traceId={first}
          traceRef={segmentOrNull(second)}
          firstSpanId={segmentOrNull(third)}
        />
      );
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

/** Form for a name and a password, which starts a session, and form for a key of this tab. */
function SignIn({ reason, onSignedIn }: { readonly reason: string | null; readonly onSignedIn: () => void }) {
  return (
    <main class="sign-in">
      <h1>Lensgate</h1>
      {reason !== null && (
        <p class="problem" role="alert">
          {reason}
        </p>
      )}
      <form action="login" method="post">
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
          storePastedKey(fieldText(event.currentTarget, 'key'));
          onSignedIn();
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
        <a href="graphql">GraphiQL</a>
        <a href="docs">HTTP paths</a>
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
  const [isLoading, setIsLoading] = useState(true);
  const identify = async (): Promise<void> => {
    setIsLoading(true);
    try {
      const found = hasCredential() ? (await request(ViewerDocument, {})).viewer : null;
      setViewer(found);
      setReason(null);
    } catch (error) {
      setReason(messageOf(error));
    }
    setIsLoading(false);
  };
  useEffect(() => {
    void identify();
    const onSignedOut = (): void => {
      setViewer(null);
      setReason('The credential is not accepted, or its session has ended.');
    };
    addEventListener(SIGNED_OUT, onSignedOut);
    return () => removeEventListener(SIGNED_OUT, onSignedOut);
  }, []);
  if (viewer === null)
    return isLoading ? <p role="status">Loading…</p> : <SignIn reason={reason} onSignedIn={() => void identify()} />;
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
