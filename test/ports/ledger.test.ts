import { MemoryLedger } from '../support/memory-ledger.ts';
import { ledgerSuite } from './ledger-suite.ts';
import { type OpenLedger, withPostgres, withRedis } from './ledgers.ts';

function suiteOver(name: string, open: () => OpenLedger): void {
  ledgerSuite(name, () => {
    const { ledger, prefix } = open();
    return Promise.resolve({
      ledger,
      prefix,
      expire: (process) => ledger.leave(process),
      close: async () => void (await Promise.all(['p', 'q'].map((process) => ledger.leave(process)))),
    });
  });
}

suiteOver('in memory', () => ({ ledger: new MemoryLedger(), prefix: '' }));
withRedis((open) => suiteOver('in Redis', open));
withPostgres((open) => suiteOver('in PostgreSQL', open));
