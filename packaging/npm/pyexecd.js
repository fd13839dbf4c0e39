#!/usr/bin/env node
// Starts the program out of the package for this kind of machine, which npm has installed with this one.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

function findProgram() {
    const name = `pyexecd-${process.platform}-${process.arch}`;
    try {
        return require.resolve(`${name}/programs/pyexecd`);
    } catch {
        console.error(`pyexecd: ${name} is not installed: pyexecd runs on Linux, and npm must not leave out optional dependencies`);
        process.exit(1);
    }
}

// The program may be at work before spawn() returns, so the signals are caught first. A terminal sends its interrupt to both
// processes.
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"])
    process.on(signal, () => signal === "SIGINT" && process.stdin.isTTY || child.kill(signal));

const child = spawn(findProgram(), process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
    console.error(`pyexecd: ${error.message}`);
    process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
