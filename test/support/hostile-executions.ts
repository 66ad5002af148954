import { chatOf, ENTRY, type HostileDocument, many } from './hostile-document.ts';

const SPAN = `traceId spanId parentSpanId name kind type agent service startedAt startNs durationMs status error
  errorTruncated model provider framework inputTokens outputTokens inputPreview responseId costUsd estimatedCostUsd`;
const TRACE = `traceId traceRef name service inputPreview startedAt endedAt durationMs status spanCount agentNames models
  llmCalls toolCalls errorCount inputTokens outputTokens costUsd frameworks`;

/** Fields of a workload. The first number is replaced, so that no two workloads are equal. */
const WIDE_INPUT = 'inputTokens: 1000, outputTokens: 1000, requests: 1000';

/** Documents that are expensive to execute and to serialize. */
export const EXECUTIONS: readonly HostileDocument[] = [
  {
    name: 'the largest page with declared and extra fields',
    query: `{ catalogEntries(first: 500) { nodes { ${ENTRY} } } }`,
  },
  {
    name: 'the largest page with extra fields 55 times',
    query: `{ catalogEntries(first: 500) { nodes { ${many(55, (i) => `a${i}: extraFields`)} } } }`,
  },
  { name: '42 pages of 500', query: `{ ${many(42, (i) => `p${i}: catalogEntries(first: 500) { nodes { id } }`)} }` },
  {
    name: '140 searches by pattern',
    query: `{ ${many(140, (i) => `p${i}: catalogEntries(first: 1, filter: { model: "re:(.*a){9}.*[b-z]${i}|(x+x+)+y" }) { totalCount }`)} }`,
  },
  {
    name: '140 searches by context window',
    query: `{ ${many(140, (i) => `p${i}: catalogEntries(first: 1, filter: { minContextWindow: ${i} }) { totalCount }`)} }`,
  },
  {
    name: '140 searches for models',
    query: `{ ${many(140, (i) => `p${i}: models(first: 1, filter: { text: "${i}" }) { nodes { name } }`)} }`,
  },
  { name: 'models with all their offers', query: `{ models(first: 60) { nodes { name offers { ${ENTRY} } } } }` },
  {
    name: '29 estimates of the whole catalog',
    query: `{ ${many(29, (i) => `p${i}: workloadEstimates(first: 1, workload: { ${WIDE_INPUT.replace('1000', String(i + 1))} }) { nodes { costUsd } }`)} }`,
  },
  {
    name: 'one entry 540 times',
    query: `{ ${many(540, (i) => `e${i}: catalogEntry(id: "gpt-4o") { extraFields }`)} }`,
  },
  {
    name: 'one price history 540 times',
    query: `{ ${many(540, (i) => `e${i}: priceHistory(entryId: "gpt-4o") { priceUsd }`)} }`,
  },
  {
    name: '50 pages of changes',
    query: `{ ${many(50, (i) => `e${i}: catalogChanges(first: 500) { nodes { oldValue } }`)} }`,
  },
  {
    name: '990 reads of the free tier usage',
    query: `{ ${many(990, (i) => `f${i}: freeTierUsage { __typename }`)} }`,
  },
  {
    name: 'one trace 540 times',
    query: `{ ${many(540, (i) => `t${i}: trace(id: "${'0'.repeat(31)}1") { ${i % 2 ? 'name' : 'spanCount'} }`)} }`,
  },
  {
    name: 'one trace 140 times',
    query: `{ ${many(140, (i) => `t${i}: trace(id: "${'0'.repeat(31)}1") { ${i % 2 ? 'name' : 'spanCount'} }`)} }`,
  },
  {
    name: 'one trace with its spans 24 times',
    query: `{ trace(id: "${'0'.repeat(31)}1") { ${many(24, (i) => `s${i}: spans(first: 20) { nodes { ${SPAN} } }`)} } }`,
  },
  {
    name: '20 traces with a page of spans each',
    query: `{ traces(first: 20, from: "2020-01-01T00:00:00Z") { nodes { ${TRACE} spans { nodes { ${SPAN} } } } } }`,
  },
  {
    name: '50 traces with the spend rows of their spans',
    query: `{ traces(first: 50, from: "2020-01-01T00:00:00Z") { nodes { spans { nodes { spanId spendRow { id usage { inputTokens } } } } spendRows { id } } } }`,
  },
  {
    name: 'one span with its content 300 times',
    query: `{ ${many(300, (i) => `s${i}: span(traceId: "${'0'.repeat(31)}2", spanId: "${'0'.repeat(15)}1") { input output attributes }`)} }`,
  },
  {
    name: 'one span with its content 250 times',
    query: `{ ${many(250, (i) => `s${i}: span(traceId: "${'0'.repeat(31)}2", spanId: "${'0'.repeat(15)}1") { input output attributes }`)} }`,
  },
  {
    name: 'one span with 1,980 aliases of its content',
    query: `{ span(traceId: "${'0'.repeat(31)}2", spanId: "${'0'.repeat(15)}1") { ${many(990, (i) => `a${i}: attributes b${i}: input`)} } }`,
  },
  {
    name: 'two pages of 500 spans',
    query: `{ ${many(2, (i) => `s${i}: trace(id: "${'0'.repeat(31)}1") { spans(first: 500) { nodes { ${SPAN} } } }`)} }`,
  },
  {
    name: '50 time series of traces',
    query: `{ ${many(50, (i) => `s${i}: traceSeries(buckets: 500, from: "2020-01-01T00:00:00Z") { traceCount }`)} }`,
  },
  {
    name: '250 lists of agents',
    query: `{ ${many(250, (i) => `s${i}: agents(first: 100, from: "2020-01-01T00:00:00Z") { name }`)} }`,
  },
  {
    name: '270 invalid page sizes',
    query: `{ ${many(270, (i) => `s${i}: trace(id: "x") { spans(first: ${i % 2 ? 0 : -1}) { pageInfo { endCursor } } }`)} }`,
  },
  {
    name: '390 deletions of traces',
    query: `mutation { ${many(390, (i) => `d${i}: deleteTrace(input: { id: "no${i}" }) { __typename }`)} }`,
  },
  { name: 'nine calls of a model', query: `mutation { ${many(9, (i) => `c${i}: ${chatOf('messages: []')}`)} }` },
];

/** Requests with expensive variables. Unknown names are close to a known one, so that suggestions are expensive. */
export const VARIABLES: readonly HostileDocument[] = [
  {
    name: 'a megabyte of undeclared variables',
    query: '{ __typename }',
    variables: { x: 'x'.repeat(1_000_000) },
  },
  {
    name: '70,000 undeclared variables',
    query: '{ __typename }',
    variables: Object.fromEntries(Array.from({ length: 70_000 }, (_, i) => [`v${i}`, 1])),
  },
  {
    name: 'a list of 200,000 names',
    query: 'query($i: WorkloadInput!) { workloadEstimates(first: 1, workload: $i) { totalCount } }',
    variables: { i: { inputTokens: 1, outputTokens: 1, modes: Array.from({ length: 200_000 }, () => 'x') } },
  },
  {
    name: 'a list of 300,000 wrong items',
    query: 'query($i: WorkloadInput!) { workloadEstimates(first: 1, workload: $i) { totalCount } }',
    variables: { i: { inputTokens: 1, outputTokens: 1, modes: Array.from({ length: 300_000 }, () => 1) } },
  },
  {
    name: 'an input object of 40,000 unknown fields',
    query: 'query($w: CatalogEntryFilter) { catalogEntries(filter: $w) { totalCount } }',
    variables: { w: Object.fromEntries(Array.from({ length: 40_000 }, (_, i) => [`minContextWindo${i}`, 1])) },
  },
  {
    name: 'objects 100,000 deep',
    query: 'mutation($p: JSON) { chat(input: { model: "none", messages: [], parameters: $p }) { __typename } }',
    variables: { p: 'DEEP' },
  },
  {
    name: 'a megabyte of small objects as JSON',
    query: 'mutation($p: [JSON!]) { chat(input: { model: "none", messages: [], tools: $p }) { __typename } }',
    variables: { p: Array.from({ length: 120_000 }, () => ({ a: 1 })) },
  },
  {
    name: '3,200 messages',
    query: 'mutation($m: [ChatMessageInput!]!) { chat(input: { model: "none", messages: $m }) { __typename } }',
    variables: { m: Array.from({ length: 3_200 }, () => ({ role: 'USER', content: 'x'.repeat(100) })) },
  },
  {
    name: '3,200 wrong messages',
    query: 'mutation($m: [ChatMessageInput!]!) { chat(input: { model: "none", messages: $m }) { __typename } }',
    variables: { m: Array.from({ length: 3_200 }, () => ({ role: 'UNKNOWN', contnt: 'x' })) },
  },
  {
    name: 'an input object of 9,900 unknown fields',
    query: 'query($w: CatalogEntryFilter) { catalogEntries(filter: $w) { totalCount } }',
    variables: { w: Object.fromEntries(Array.from({ length: 9_900 }, (_, i) => [`minContextWindo${i}`, 1])) },
  },
  {
    name: 'a list of 9,900 wrong items',
    query: 'query($i: WorkloadInput!) { workloadEstimates(first: 1, workload: $i) { totalCount } }',
    variables: { i: { inputTokens: 1, outputTokens: 1, modes: Array.from({ length: 9_900 }, () => 1) } },
  },
  {
    name: '25,000 messages',
    query: 'mutation($m: [ChatMessageInput!]!) { chat(input: { model: "none", messages: $m }) { __typename } }',
    variables: { m: Array.from({ length: 25_000 }, () => ({ role: 'USER', content: 'x' })) },
  },
  {
    name: '25,000 wrong messages',
    query: 'mutation($m: [ChatMessageInput!]!) { chat(input: { model: "none", messages: $m }) { __typename } }',
    variables: { m: Array.from({ length: 25_000 }, () => ({ role: 'UNKNOWN', contnt: 'x' })) },
  },
  {
    name: 'one variable in 100 places',
    query: `query($w: CatalogEntryFilter) { ${many(100, (i) => `a${i}: catalogEntries(filter: $w) { totalCount }`)} }`,
    variables: { w: { capabilities: Array.from({ length: 9_900 }, () => 'VISION') } },
  },
];
