import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { ICON_SVG } from '../domain/icon.ts';
import type { CompressedPage } from './graphiql.ts';

// Builds the GraphiQL page of 9 MB on a worker thread. The memory of the bundle and of the compressor is released when
// the thread ends.

/** Tabs of a first visit. */
const TABS = [
  `# Put a key into the field above, then run this: the play button, or Ctrl-Enter.
query RecentTraces {
  traces(first: 10, filter: { internal: false }) {
    nodes {
      traceId
      name
      status
      startedAt
      durationMs
      costUsd
      spans(first: 20) {
        nodes {
          name
          type
          durationMs
        }
      }
    }
  }
}
`,
  `# The catalog needs no key.
query Catalog {
  catalogEntries(first: 5, filter: { provider: "openai", mode: "chat", supportsVision: true }) {
    totalCount
    nodes {
      entryId
      maxInputTokens
      inputCostPerToken
      outputCostPerToken
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`,
  `# The built-in demo model answers without any provider.
mutation Chat {
  chat(input: { model: "demo", messages: [{ role: USER, content: "Hello" }] }) {
    __typename
    ... on ChatCompletion {
      text
      costUsd
      traceId
    }
    ... on UserError {
      code
      message
    }
  }
}
`,
  `subscription ChatStream {
  chatStream(input: { model: "demo", messages: [{ role: USER, content: "Hello" }] }) {
    __typename
    ... on ChatStep {
      textSoFar
    }
    ... on ChatText {
      text
    }
    ... on ChatUsage {
      usage {
        inputTokens
        outputTokens
      }
    }
    ... on ChatFailure {
      code
      message
    }
  }
}
`,
  `# Leave this running and send a chat from elsewhere: its trace appears here.
subscription LiveTraces {
  traceUpdates(filter: { internal: false }) {
    droppedUpdates
    trace {
      traceId
      name
      status
      spanCount
    }
  }
}
`,
];

const STYLE = `
  body { display: flex; flex-direction: column; height: 100vh; margin: 0; }
  #root { flex: 1; min-height: 0; height: auto !important; overflow: hidden; }
  #root > *, .graphiql-container { height: 100% !important; }
  #key-bar { display: flex; gap: 8px; align-items: center; padding: 6px 12px;
    font: 14px system-ui, sans-serif; background: #1f2937; color: #f9fafb; }
  #key-bar input { flex: 0 1 26rem; padding: 4px 8px; border: 1px solid #6b7280; border-radius: 4px;
    background: #111827; color: inherit; font: inherit; }
  #key-bar small { color: #d1d5db; }
  #key-bar a { color: inherit; }
  @media (max-width: 640px) {
    #key-bar small { display: none; }
    #key-bar input { flex: 1; min-width: 0; }
    .graphiql-container { --sidebar-width: 44px; --px-16: 8px; }
    .graphiql-container .graphiql-main, #graphiql-session { flex-direction: column; }
    #graphiql-session > *, .graphiql-container .graphiql-main > * { width: auto !important; min-width: 0 !important; }
    #graphiql-session > *, .graphiql-container .graphiql-main > * { min-height: 0; }
    .graphiql-container .graphiql-horizontal-drag-bar { display: none; }
    .graphiql-container .graphiql-tab button.graphiql-tab-button { padding-inline: 4px; }
    .graphiql-container .graphiql-logo { display: none; }
  }
`;

const KEY_BAR = `
  <form id="key-bar" autocomplete="off">
    <label for="key">Key</label>
    <input id="key" type="password" placeholder="sk-..." spellcheck="false" autocomplete="off" />
    <small>Sent with every query of this browser tab, until the tab is closed. Or <a href="/fallback/login">sign in</a>.</small>
  </form>
`;

/**
 * Runs before the bundle. Adds the key, or the CSRF token of a session, to the requests of the page. Selects the tab of
 * the last visit, and repairs clicks on tabs.
 */
const SCRIPT = `
  (() => {
    const field = document.getElementById('key');
    field.value = sessionStorage.getItem('lensgate-key') ?? '';
    field.addEventListener('input', () => sessionStorage.setItem('lensgate-key', field.value.trim()));
    field.form.addEventListener('submit', (event) => event.preventDefault());
    const csrfToken = () =>
      document.cookie.split('; ').find((one) => one.startsWith('lensgate_csrf='))?.slice('lensgate_csrf='.length) ?? '';
    const send = window.fetch.bind(window);
    window.fetch = (target, options = {}) => {
      const url = new URL(target instanceof Request ? target.url : target, location.href);
      const key = field.value.trim();
      const [name, value] = key === '' ? ['x-csrf-token', csrfToken()] : ['authorization', 'Bearer ' + key];
      if (url.origin !== location.origin || value === '') return send(target, options);
      const headers = new Headers(options.headers ?? (target instanceof Request ? target.headers : undefined));
      if (!headers.has(name)) headers.set(name, value);
      return send(target, { ...options, headers });
    };
    // GraphiQL opens a new tab unless a tab has the text of the stored query. So the query of the last active tab is
    // stored.
    const storedTabs = () => {
      try {
        return JSON.parse(localStorage.getItem('graphiql:tabState') ?? 'null');
      } catch {
        return null;
      }
    };
    const last = storedTabs();
    const tab = last?.tabs?.[last.activeTabIndex];
    if (tab !== undefined && !new URLSearchParams(location.search).has('query'))
      for (const name of ['query', 'variables']) {
        if (typeof tab[name] === 'string') localStorage.setItem('graphiql:' + name, tab[name]);
        else localStorage.removeItem('graphiql:' + name);
      }
    // Tabs move while the pointer is down: the click then reaches the list of tabs instead of the tab.
    let pressed = null;
    document.addEventListener('pointerdown', ({ target, clientX, clientY }) => {
      const button = target instanceof Element ? target.closest('[role=tab] button') : null;
      pressed = button === null ? null : { button, clientX, clientY };
    }, true);
    document.addEventListener('click', ({ target, clientX, clientY, isTrusted }) => {
      if (!isTrusted || pressed === null) return;
      const { button, ...start } = pressed;
      pressed = null;
      const dragged = Math.hypot(clientX - start.clientX, clientY - start.clientY) > 8;
      if (!dragged && !button.contains(target)) button.click();
    }, true);
  })();
`;

const ICON = `data:image/svg+xml,${encodeURIComponent(ICON_SVG)}`;

const ROOT = '<div id="root"></div>';
const HEAD_END = '</head>';

function render(): string {
  const page = renderGraphiQL({
    title: 'Lensgate GraphiQL',
    favicon: ICON,
    defaultTabs: TABS.map((query) => ({ query })),
    subscriptionsProtocol: 'SSE',
    shouldPersistHeaders: false,
    defaultEditorToolsVisibility: 'variables',
  });
  const head = page.indexOf(HEAD_END);
  const root = page.indexOf(ROOT);
  if (head === -1 || root < head) throw new Error('The GraphiQL page has changed: the key field cannot be inserted.');
  return [
    page.slice(0, head),
    `<style>${STYLE}</style>`,
    page.slice(head, root),
    `${KEY_BAR}${ROOT}<script>${SCRIPT}</script>`,
    page.slice(root + ROOT.length),
  ].join('');
}

const html = Buffer.from(render());
const page: CompressedPage = {
  etag: `"${createHash('sha256').update(html).digest('base64url')}"`,
  gzip: gzipSync(html, { level: 6 }),
  brotli: brotliCompressSync(html, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: html.length },
  }),
};
parentPort?.postMessage(page, [page.gzip.buffer, page.brotli.buffer]);
