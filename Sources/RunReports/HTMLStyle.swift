import RunService

/// The style sheet of the report.
enum HTMLStyle {
    /// Valid inside an XML text: no `<` and no `&`.
    static let sheet = """
        :root {
          --paper: #fcfcfa; --ink: #1d2125; --soft: #5d666f; --line: #dfe2e0; --tint: #f1f3f0;
          --done: #2f7d57; --deferred: #2c6fa8; --failed: #b8322a; --rolledBack: #8a6a1f;
          --pruned: #5f8f78; --notStarted: #9aa1a7; --unchanged: #8aa3b5;
          --amber: #b7791f;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --paper: #16191c; --ink: #e3e6e8; --soft: #9aa4ad; --line: #30363b; --tint: #1e2327;
            --done: #58b98a; --deferred: #6aaee6; --failed: #f0857c; --rolledBack: #d3ac55;
            --pruned: #86b8a0; --notStarted: #69727a; --unchanged: #7f98aa;
            --amber: #e0a94a;
          }
        }
        * { box-sizing: border-box; }
        html { background: var(--paper); color: var(--ink); -webkit-text-size-adjust: 100%; }
        body {
          margin: 0; font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans",
            "DejaVu Sans", sans-serif;
        }
        main { max-width: 76rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
        h1 { font-size: 1.75rem; line-height: 1.2; margin: 0; text-wrap: balance; }
        h2 { font-size: 1.125rem; line-height: 1.3; margin: 0 0 .75rem; }
        p { margin: 0 0 .75rem; max-width: 44rem; }
        section { margin-top: 2.5rem; }
        .losses { border-left: .375rem solid var(--amber); padding-left: 1rem; }
        .losses h2 { color: var(--amber); }
        .losses ul { margin: 0; padding-left: 1.25rem; overflow-wrap: anywhere; }
        .run, .advice { color: var(--soft); }
        .run { margin: .375rem 0 1.25rem; overflow-wrap: anywhere; }
        .advice { margin: .125rem 0 0; font-size: .875rem; }
        .bar { display: flex; gap: 2px; height: .75rem; border-radius: .375rem; overflow: hidden; }
        .bar span { min-width: 4px; }
        .legend {
          display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; margin: .5rem 0 0;
          padding: 0; font-size: .875rem;
        }
        .dot {
          display: inline-block; width: .625rem; height: .625rem; border-radius: 50%;
          margin-right: .4375rem;
        }
        .bar .done, .dot.done { background: var(--done); }
        .bar .deferred, .dot.deferred { background: var(--deferred); }
        .bar .failed, .dot.failed { background: var(--failed); }
        .bar .rolledBack, .dot.rolledBack { background: var(--rolledBack); }
        .bar .pruned, .dot.pruned { background: var(--pruned); }
        .bar .notStarted, .dot.notStarted { background: var(--notStarted); }
        .bar .unchanged, .dot.unchanged { background: var(--unchanged); }
        .outcome { white-space: nowrap; }
        .outcome.done { color: var(--done); }
        .outcome.deferred { color: var(--deferred); }
        .outcome.failed, .bad { color: var(--failed); }
        .outcome.failed { font-weight: 600; }
        .outcome.rolledBack { color: var(--rolledBack); }
        .outcome.pruned { color: var(--pruned); }
        .outcome.notStarted, .outcome.unchanged { color: var(--soft); }
        table { width: 100%; border-collapse: collapse; font-size: .9375rem; }
        th, td {
          padding: .4375rem 1rem .4375rem 0; text-align: left; vertical-align: top;
          border-bottom: 1px solid var(--line);
        }
        th { font-weight: 500; font-size: .8125rem; color: var(--soft); white-space: nowrap; }
        th:last-child, td:last-child { padding-right: 0; }
        th.number, td.number { width: 1%; }
        .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
        .path { overflow-wrap: anywhere; }
        .version { min-width: 9.5rem; overflow-wrap: anywhere; }
        .meter { width: 70%; }
        td.meter { vertical-align: middle; }
        .meter span {
          display: block; height: .5rem; min-width: 2px; border-radius: .25rem;
          background: var(--deferred);
        }
        dl { display: grid; grid-template-columns: 8rem minmax(0, 1fr); margin: 0; }
        dl { gap: .25rem 1rem; }
        dt { color: var(--soft); }
        dd { margin: 0; overflow-wrap: anywhere; white-space: pre-line; }
        dd ul { margin: 0; padding-left: 1.125rem; white-space: normal; }
        section > ul { margin: 0; padding-left: 1.25rem; overflow-wrap: anywhere; }
        .steps { grid-template-columns: minmax(0, 1fr); gap: .125rem; }
        .steps dd + dt { margin-top: .75rem; }
        code {
          font: .875rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
          background: var(--tint); border-radius: .25rem; padding: .25rem .5rem;
          display: inline-block; max-width: 100%; overflow-wrap: anywhere;
        }
        summary { cursor: pointer; }
        summary::marker { color: var(--soft); }
        details dl { font-size: .875rem; margin: .375rem 0 .5rem 1.0625rem; }
        @media (max-width: 46rem) {
          main { padding: 1.5rem 1rem 3rem; }
          h1 { font-size: 1.375rem; }
          .wide { display: none; }
          dl { grid-template-columns: 6rem minmax(0, 1fr); }
          .steps { grid-template-columns: minmax(0, 1fr); }
          details dl { grid-template-columns: minmax(0, 1fr); gap: 0; }
          details dd + dt { margin-top: .375rem; }
          details dt:empty { display: none; }
        }
        @media print {
          :root { --paper: #fff; }
          main { max-width: none; padding: 0; }
          tr { break-inside: avoid; }
        }
        """
}
