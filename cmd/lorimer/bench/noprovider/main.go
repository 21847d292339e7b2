// Command noprovider uses the types of a model and no provider: what the size of
// everyprovider is compared to.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/lorimer-dev/lorimer/harness/model"
)

func main() {
	echo := model.Func(func(_ context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		return &model.Reply{Stop: model.StopEnd}, sink(model.Text(req.LastText()))
	})
	text, err := echo.Call(context.Background(), fmt.Sprint(os.Args))
	fmt.Println(text, err)
}
