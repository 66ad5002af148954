import { runProgram } from '../agents/launch.ts';
import type { Command } from '../command.ts';
import { ownServer } from '../server/own-server.ts';

export const startCommands: readonly Command[] = [
  {
    names: ['start'],
    summary: 'Start the server, with the options of `npm start`',
    forwardsArguments: true,
    run({ host }, values) {
      const { program, words, environment } = ownServer(host, values.operands);
      return runProgram(program, words, environment);
    },
  },
];
