import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { MadePage } from './graphiql.ts';

// Nine megabytes of page, made once on a thread of their own: the text, the bundle it comes from and the
// compressor's memory all go when the thread ends.

/** What a first visit finds, a tab each. */
const TABS = [
  `# Put a key into the field above, then run this: the play button, or Ctrl-Enter.
query RecentTraces {
  traces(first: 10) {
    nodes {
      traceId
      name
      status
      startedAt
      durationMs
      spendUsd
      spans {
        name
        type
        durationMs
      }
    }
  }
}
`,
  `# The catalog needs no key.
query Catalog {
  catalogEntries(first: 5, provider: "openai", mode: "chat", supportsVision: true) {
    totalCount
    nodes {
      id
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
  traceUpdates {
    missed
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
`;

const BAR = `
  <form id="key-bar" autocomplete="off">
    <label for="key">Key</label>
    <input id="key" type="password" placeholder="sk-..." spellcheck="false" autocomplete="off" />
    <small>Sent with every query and subscription of this tab; kept until the tab is closed.</small>
  </form>
`;

/** Runs before the bundle, so that whatever it fetches from this house carries the key. */
const SCRIPT = `
  (() => {
    const field = document.getElementById('key');
    field.value = sessionStorage.getItem('lensgate-key') ?? '';
    field.addEventListener('input', () => sessionStorage.setItem('lensgate-key', field.value.trim()));
    field.form.addEventListener('submit', (event) => event.preventDefault());
    const send = window.fetch.bind(window);
    window.fetch = (target, options = {}) => {
      const url = new URL(target instanceof Request ? target.url : target, location.href);
      const key = field.value.trim();
      if (url.origin !== location.origin || key === '') return send(target, options);
      const headers = new Headers(options.headers ?? (target instanceof Request ? target.headers : undefined));
      if (!headers.has('authorization')) headers.set('authorization', 'Bearer ' + key);
      return send(target, { ...options, headers });
    };
  })();
`;

/** A lens in a gate; inside the page, so that no icon is asked for. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 15V7a6 6 0 0 1 12 0v8" fill="none" ' +
    'stroke="#1f2937" stroke-width="2"/><circle cx="8" cy="8" r="3" fill="#d60590"/></svg>',
)}`;

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
  if (head === -1 || root < head) throw new Error('The GraphiQL page has changed: the key field has no place in it.');
  return [
    page.slice(0, head),
    `<style>${STYLE}</style>`,
    page.slice(head, root),
    `${BAR}${ROOT}<script>${SCRIPT}</script>`,
    page.slice(root + ROOT.length),
  ].join('');
}

const html = Buffer.from(render());
const made: MadePage = {
  etag: `"${createHash('sha256').update(html).digest('base64url')}"`,
  gzip: gzipSync(html, { level: 6 }),
  brotli: brotliCompressSync(html, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: html.length },
  }),
};
parentPort?.postMessage(made, [made.gzip.buffer, made.brotli.buffer]);
