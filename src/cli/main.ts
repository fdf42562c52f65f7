#!/usr/bin/env node
/**
 * The program `weir`: checks the version of Node, then calls `run.ts`.
 *
 * It imports nothing at the top and uses no new syntax, because a Node that is too old for the rest
 * must still be able to read this file and report it.
 */

const NODE_MAJOR_MIN = 24;

if (Number(process.versions.node.split(".")[0]) >= NODE_MAJOR_MIN)
  void import("./run.ts").then(({ main }) => main(process.argv.slice(2)));
else
  void import("../base/errors.ts").then(({ REMEDIES }) => {
    console.error(
      `weir: needs Node ${NODE_MAJOR_MIN} or later, this is ${process.versions.node} (RUNTIME_OLD)\n` +
        `  ${REMEDIES.RUNTIME_OLD}`,
    );
    process.exitCode = 2;
  });
